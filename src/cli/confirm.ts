// Asks an operator before something is lost.

import { createInterface } from 'node:readline'
import { OperatorError } from '../config/operator-error.ts'
import type { CommandContext } from './command.ts'

/**
 * Asks a question on a terminal.
 *
 * @param purpose what the option is for, such as `to remove these`.
 * @param option the option that answers the question where there is no terminal.
 * @throws OperatorError unless the operator agrees.
 */
export async function confirm(
  question: string,
  { stderr, signal }: CommandContext,
  purpose: string,
  option = '--yes',
): Promise<void> {
  if (!stderr.isTTY || !process.stdin.isTTY) {
    throw new OperatorError(`nothing was changed; ${purpose}, add ${option}`)
  }
  stderr.write(question)
  using terminal = createInterface({ input: process.stdin, signal })
  for await (const answer of terminal) {
    if (/^y(es)?$/i.test(answer.trim())) return
    throw new OperatorError('nothing was changed')
  }
  // The input has ended, or the question was interrupted.
  stderr.write('\n')
  signal.throwIfAborted()
  throw new OperatorError('nothing was changed')
}
