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

/** Runs work; an error in it becomes an OperatorError, whose message is made of the reason. */
export function orExplain<T>(work: () => T, explain: (reason: string) => string): T {
  try {
    return work()
  } catch (error) {
    throw new OperatorError(explain(error instanceof Error ? error.message : String(error)))
  }
}
