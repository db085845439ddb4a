// Turns errors of the API, whose code some commands use, into errors of operators.

import { UsageError } from '../../config/settings.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { ApiError } from '../../http/errors.ts'

/**
 * The error of an operator in place of that of a client; a failure of the store, as it is.
 *
 * @param reword replaces the words of a client with those of an operator.
 */
export function explainApiError(
  error: unknown,
  reword: (message: string) => string = (message) => message,
): unknown {
  if (!(error instanceof ApiError)) return error
  if (error.cause !== undefined) return error.cause
  const message = reword(error.message)
  return error.code === 400 ? new UsageError(message) : new OperatorError(message)
}
