// Turns errors of the API, whose code some commands use, into errors of operators.

import { UsageError } from '../../config/settings.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { ApiError } from '../../http/errors.ts'

/**
 * Turns an error for clients into one for operators; a failure of the store stays as it is.
 *
 * @param reword replaces the terms of clients with those of operators.
 */
export function explainApiError(
  error: unknown,
  reword: (message: string) => string = (message) => message,
): unknown {
  if (!(error instanceof ApiError)) return error
  if (error.cause !== undefined) return error.cause
  const message = reword(error.message).replace(
    /^Company (\d+) is not in the registry$/,
    '$&; if that is its number in a register, see: dossier find $1',
  )
  return error.code === 400 ? new UsageError(message) : new OperatorError(message)
}
