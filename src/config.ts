// Every setting, in one table: option, environment variable, default and meaning.

import { nearest } from './nearest.ts'

/** One or more faults in what the operator typed; ends the command with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A setting: `--name` on the command line, `DOSSIER_NAME` in the environment. */
export interface Setting {
  readonly name: string
  /** The word for its value in the help. */
  readonly value: string
  readonly default: string
  readonly meaning: string
  /** Why a value cannot be taken; undefined where it can. */
  readonly fault: (value: string) => string | undefined
}

function integerBetween(minimum: number, maximum: number) {
  return (value: string) => {
    const isInteger = /^\d{1,15}$/.test(value)
    return isInteger && Number(value) >= minimum && Number(value) <= maximum
      ? undefined
      : `must be an integer from ${minimum} to ${maximum}`
  }
}

function oneOf(...values: readonly string[]) {
  return (value: string) =>
    values.includes(value) ? undefined : `must be one of ${values.join(', ')}`
}

const notEmpty = (value: string) => (value.trim() === '' ? 'must not be empty' : undefined)

/** The settings; a command takes those that it names. */
export const settings = {
  db: {
    name: 'db',
    value: 'STORE',
    default: 'dossier.db',
    meaning: 'the store: a file, or the URL of a PostgreSQL (postgres://…); made by an import',
    fault: notEmpty,
  },
  host: {
    name: 'host',
    value: 'ADDRESS',
    default: '127.0.0.1',
    meaning: 'the address to listen on; 0.0.0.0 for every one that the machine has',
    fault: notEmpty,
  },
  port: {
    name: 'port',
    value: 'N',
    default: '8080',
    meaning: 'the port to listen on; 0 for any free one',
    fault: integerBetween(0, 65_535),
  },
  pool: {
    name: 'pool',
    value: 'N',
    default: '10',
    meaning: 'connections to a PostgreSQL at the most',
    fault: integerBetween(1, 1_000),
  },
  waitMs: {
    name: 'wait-ms',
    value: 'N',
    default: '500',
    meaning: 'how long a request waits for a connection to a PostgreSQL before it is answered 503',
    fault: integerBetween(1, 60_000),
  },
  statementMs: {
    name: 'statement-ms',
    value: 'N',
    default: '1000',
    meaning: 'how long a PostgreSQL may take over a request before it is answered 503',
    fault: integerBetween(1, 60_000),
  },
  cacheMib: {
    name: 'cache-mib',
    value: 'N',
    default: '64',
    meaning: 'memory for ready pages, in MiB; 0 for none',
    fault: integerBetween(0, 1_048_576),
  },
  stopSeconds: {
    name: 'stop-seconds',
    value: 'N',
    default: '10',
    meaning: 'how long running requests may take to end when the server is told to stop',
    fault: integerBetween(0, 3_600),
  },
  logLevel: {
    name: 'log-level',
    value: 'LEVEL',
    default: 'info',
    meaning: 'the least important lines that are logged: error, warn, info, debug or silent',
    fault: oneOf('error', 'warn', 'info', 'debug', 'silent'),
  },
  logFormat: {
    name: 'log-format',
    value: 'FORMAT',
    default: 'auto',
    meaning: 'json, text, or auto: text on a terminal, JSON elsewhere',
    fault: oneOf('auto', 'json', 'text'),
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings
export type Settings = Readonly<Record<SettingName, string>>

const prefix = 'DOSSIER_'

/** The environment variable of a setting. */
export function variableOf({ name }: Setting): string {
  return prefix + name.toUpperCase().replaceAll('-', '_')
}

/**
 * The value of every setting: the option, else the environment variable, else the default.
 *
 * @param options the options that were given, by their names.
 * @throws UsageError that lists every fault, an unknown variable with our prefix included.
 */
export function readSettings(
  options: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const faults: string[] = []
  const known = Object.values(settings).map(variableOf)
  for (const name of Object.keys(environment)) {
    // The suite's own switches are none of the program's.
    if (!name.startsWith(prefix) || name.startsWith(`${prefix}TEST_`) || known.includes(name)) {
      continue
    }
    const near = nearest(name, known)
    faults.push(`${name} is no setting${near ? `; did you mean ${near}?` : ''}`)
  }
  const entries = Object.entries(settings).map(([key, setting]) => {
    const variable = variableOf(setting)
    const option = options[setting.name]
    const value = option ?? environment[variable] ?? setting.default
    const fault = setting.fault(value)
    if (fault) {
      const where = option === undefined ? variable : `--${setting.name}`
      faults.push(`${where} is ${JSON.stringify(value)}; it ${fault}`)
    }
    return [key, value]
  })
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  return Object.fromEntries(entries) as Settings
}
