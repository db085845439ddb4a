/**
 * An error that the operator can mend: its message is one line that says what is wrong and, where
 * it is not plain from that, what to do. It ends a command with exit code 1, without a stack.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}

/** The same, where a change may have been made or not, and nobody can say which. */
export class UnknownOutcomeError extends OperatorError {
  override readonly name = 'UnknownOutcomeError'
}
