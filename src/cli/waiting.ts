// How a command that changes the store waits for its turn.

import type { Turn } from '../store/turn.ts'
import type { CommandContext } from './command.ts'

/** It says so, and a signal ends it. */
export function waitInTurn({ stderr, signal }: CommandContext): Turn {
  const onWait = () => {
    stderr.writeLines('another command is writing to the store; waiting for it to finish')
  }
  return { onWait, signal }
}
