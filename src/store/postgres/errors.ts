// What the driver or the server says, in words that tell an operator what to do.

import { OperatorError } from '../../operator-error.ts'
import { describeUrl } from './url.ts'

/** What the driver or the server says, as an error that says what to do about it. */
export function storeError(db: string, error: unknown): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const at = describeUrl(db)
  const code = 'code' in error ? String(error.code) : ''
  // Only the server's own errors have a severity.
  if ('severity' in error) {
    const advice = adviceOfState[code] ?? adviceOfClass[code.slice(0, 2)]
    return advice === undefined
      ? error
      : new OperatorError(`${at}: ${error.message}; ${advice}`, { cause: error })
  }
  const isLost = /^(Connection terminated|timeout expired|The server does not support SSL)/
  // What the driver says of a session that has ended between two statements.
  const isGone = /^Client has encountered a connection error/
  const advice =
    adviceOfSocket[isGone.test(error.message) ? 'ECONNRESET' : code] ??
    (isLost.test(error.message) ? `${error.message}; nothing was changed, try again` : undefined)
  return advice === undefined ? error : new OperatorError(`${at}: ${advice}`, { cause: error })
}

const adviceOfSocket: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there; start PostgreSQL, or mend --db',
  ENOTFOUND: 'the host is not known; mend --db',
  EAI_AGAIN: 'the host cannot be looked up; mend --db, or try again',
  EHOSTUNREACH: 'the host cannot be reached; mend --db, or the network',
  ETIMEDOUT: 'the host does not answer; mend --db, or the network',
  ECONNRESET: 'the connection was lost; nothing was changed, try again',
  EPIPE: 'the connection was lost; nothing was changed, try again',
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const adviceOfState: Readonly<Record<string, string>> = {
  '28P01': 'mend the password in --db, or set it with ~/.pgpass',
  '28000': 'mend the user in --db, or pg_hba.conf',
  '3D000': 'make it with: createdb',
  '42501': 'grant this user what the operator’s guide lists, or use another one in --db',
  '25006': 'this is a standby, or a read-only user; use the primary in --db',
  '53300': 'raise max_connections, or lower --pool of the servers',
  '53100': 'make room on the disk of PostgreSQL, and try again',
  '57P01': 'nothing was changed; try again',
  '57P03': 'try again in a moment',
  '57014': 'nothing was changed; try again',
}

const adviceOfClass: Readonly<Record<string, string>> = {
  '08': 'nothing was changed; try again',
  '53': 'see the log of PostgreSQL',
  '58': 'see the log of PostgreSQL',
  XX: 'see the log of PostgreSQL',
}
