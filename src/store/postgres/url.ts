// The URL of a store in PostgreSQL, and the errors of the driver and the server as messages that
// name it. (This file does not import the driver, which is loaded only for such a store.)

import { OperatorError } from '../../config/operator-error.ts'
import { sslModes } from '../../config/setting-kinds.ts'
import { isMisspelling } from '../../text/nearest.ts'

// PostgreSQL keeps names that begin with pg_ for itself, and cuts names to 63 letters; that of the
// list's schema has nine letters more.
const schemaName = /^(?!pg_)[a-z_][a-z0-9_]{0,53}$/

/** Our own parameter, and those of the driver that a session may have; it ignores all others. */
const known: readonly string[] = [
  ...['schema', 'user', 'password', 'host', 'port', 'options', 'application_name'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'],
]

/** The schema that a URL names; if undefined, the server's `search_path` applies. */
export function schemaIn(db: string): string | undefined {
  const schema = parseUrl(db).searchParams.get('schema')
  if (schema === null) return undefined
  if (schemaName.test(schema)) return schema
  throw new OperatorError(
    `${describeUrl(db)}: ?schema= takes up to 54 lowercase letters, digits and underscores, ` +
      'and does not begin with pg_',
  )
}

/**
 * @throws OperatorError that shows the form of a URL, or says what is wrong with a parameter that
 *   the driver would ignore, such as one of libpq, or take for another one.
 */
export function parseUrl(db: string): URL {
  if (!URL.canParse(db)) {
    throw new OperatorError(
      'the URL of the store is malformed; write it like postgres://user@host:5432/database, ' +
        'with special characters of a password percent-encoded',
    )
  }
  const url = new URL(db)
  const fault = faultOf(url.searchParams)
  if (fault !== undefined) throw new OperatorError(`${describeUrl(db)}: ${fault}`)
  return url
}

/** With other values, the driver skips its checks of TLS, or fails with a stack. */
const valuesOf = { sslmode: sslModes, ssl: ['0', '1', 'true', 'no-verify'] }

function faultOf(parameters: URLSearchParams): string | undefined {
  for (const name of parameters.keys()) {
    if (!known.includes(name)) {
      const meant = known.find((one) => isMisspelling(one, name))
      const advice = meant === undefined ? 'leave it out' : `did you mean ${meant}=?`
      return `there is no parameter ${name}=; ${advice}`
    }
    if (parameters.getAll(name).length > 1) return `${name}= is given more than once`
  }
  for (const [name, values] of Object.entries(valuesOf)) {
    const value = parameters.get(name)
    const isKnown = value === null || values.includes(value)
    if (!isKnown) return `${name}= takes one of ${values.join(', ')}`
  }
  return undefined
}

/** The URL of the same store at another server. */
export function urlAt(db: string, host: string, port: number): string {
  const url = parseUrl(db)
  for (const name of ['host', 'port']) url.searchParams.delete(name)
  url.hostname = host.includes(':') ? `[${host}]` : host
  url.port = String(port)
  return url.href
}

/** A URL without its password, for messages and logs. */
export function describeUrl(db: string): string {
  if (!URL.canParse(db)) return 'the store'
  const url = new URL(db)
  url.password = ''
  url.searchParams.delete('password')
  url.searchParams.delete('sslpassword')
  return url.href
}

/** A known error of the driver or the server as an OperatorError with advice; else the error. */
export function storeError(db: string, error: unknown): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const at = describeUrl(db)
  const code = 'code' in error ? String(error.code) : ''
  // Only the server's own errors have a severity.
  if ('severity' in error) {
    if (isOfNode.test(error.message)) {
      const [line] = error.message.split('\n')
      const lost = `a node of Citus was lost (${line}); nothing was changed, start it and try again`
      return new OperatorError(`${at}: ${lost}`, { cause: error })
    }
    const advice =
      adviceOfState[code] ?? adviceAtStart(error, code) ?? adviceOfClass[code.slice(0, 2)]
    return advice === undefined
      ? error
      : new OperatorError(`${at}: ${error.message}; ${advice}`, { cause: error })
  }
  const advice = adviceOfDriver(error, code)
  return advice === undefined ? error : new OperatorError(`${at}: ${advice}`, { cause: error })
}

/** The driver's own message about a parameter of a URL, or about a file that one names. */
export function refusedByDriver(db: string, cause: unknown): OperatorError {
  const said = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
  return new OperatorError(`${describeUrl(db)}: ${said}; correct --db, or the variables PG…`, {
    cause,
  })
}

/** Advice on the parameters with which a session begins. */
function adviceAtStart({ severity }: { readonly severity: unknown }, code: string) {
  const isUnknown = severity === 'FATAL' && /^(22|42)/.test(code)
  return isUnknown ? 'correct the parameters of --db, or PGOPTIONS' : undefined
}

function adviceOfDriver(error: Error, code: string): string | undefined {
  const { message } = error
  if (unreachable.has(code) || isOfConnect(error)) {
    return `it cannot be reached (${code}); start PostgreSQL, or correct --db`
  }
  if (lacksPassword.test(message)) {
    return 'it asks for a password; give it in --db, PGPASSWORD or ~/.pgpass'
  }
  if (isOfTls.test(code) || message.startsWith('The server does not support SSL')) {
    return `${message}; correct sslmode=, sslrootcert=, sslcert= or sslkey= in --db`
  }
  if (!isLost.test(message)) return undefined
  return `no connection (${message}); nothing was changed, try again`
}

const lacksPassword = /^SASL: .* client password must be /

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes, and errors of the protocol. */
const isOfTls = /CERT|^UNABLE_TO_|^ERR_(OSSL|SSL|TLS)_/

/** Messages of the system and the driver about a session that has ended, or could not begin. */
const isLost =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|network socket disconnected)|(read|write) E)/

/** Errors of the coordinator's own connections to nodes of Citus. */
const isOfNode =
  /^(server closed the connection unexpectedly|SSL (SYSCALL error|connection has been closed)|connection (to the remote node|not open))/

/** No server was reached. */
const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ERR_SOCKET_BAD_PORT',
])

/** Whether connecting to a socket failed, perhaps to one in a folder. */
const isOfConnect = (error: Error) => 'syscall' in error && error.syscall === 'connect'

const taken = 'another program uses this schema; name one for the store in --db with ?schema='

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const adviceOfState: Readonly<Record<string, string>> = {
  // Of a pooler, which refuses parameters and ends long commands.
  '08P01': 'nothing was changed; correct the parameters of --db, or the limits of the pooler',
  '3D000': 'create it with: createdb',
  '3F000': 'name one in --db with ?schema=, or create one of the user’s search_path',
  '42501':
    'to change the store, name the owner of its tables in --db; to read it, grant this user the ' +
    'rights in docs/postgresql.md',
  '25006': 'the server is a standby, or the user read-only; name the primary in --db',
  '42P07': taken,
  '42710': taken,
  '40001': 'the standby gave way to its primary; try again, or raise max_standby_streaming_delay',
  '53100': 'nothing was changed; free some space on the disk of the server, and try again',
  '53300': 'raise max_connections or the limit of this user, or lower --pool of the servers',
}

const adviceOfClass: Readonly<Record<string, string>> = {
  '08': 'nothing was changed; try again',
  28: 'correct the user or the password in --db or ~/.pgpass, or pg_hba.conf',
  53: 'see the log of PostgreSQL',
  57: 'nothing was changed; try again',
  58: 'see the log of PostgreSQL',
  XX: 'see the log of PostgreSQL',
}
