// What the code that serves clients says of a wrong request, for operators.

import { UsageError } from '../../config/settings.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { ApiError } from '../../http/errors.ts'

/**
 * An operator's mistake in place of a client's; what has failed in the store, as it is.
 *
 * @param reword puts what an operator types in the place of what a client sends.
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
