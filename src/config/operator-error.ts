import { constants } from 'node:os'

/**
 * An error that the operator can fix. The message is one line that says what is wrong and, unless
 * obvious, what to do. The command exits with code 1, without a stack trace.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}

/** An OperatorError after which it is unknown whether a change was made. */
export class UnknownOutcomeError extends OperatorError {
  override readonly name = 'UnknownOutcomeError'
}

/** The system's code of an error, such as ENOSPC; empty if it has none. */
export function systemCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return ''
  // The runtime has no name for an exceeded quota: `Unknown system error -122`.
  const isQuota = 'errno' in error && error.errno === -constants.errno.EDQUOT
  return isQuota ? 'EDQUOT' : String(error.code)
}

/** What an error says, whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Runs work; an error in it becomes an OperatorError, whose message is made of the reason. */
export function orExplain<T>(work: () => T, explain: (reason: string) => string): T {
  try {
    return work()
  } catch (error) {
    throw new OperatorError(explain(reasonOf(error)))
  }
}
