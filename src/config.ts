// Every setting, in one table: option, environment variable, default and meaning.

import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { nearest } from './nearest.ts'
import { parseRate, type Rate, rateForm } from './rate.ts'
import { hasStrayPassword, withoutPasswords } from './redact.ts'

/** One or more faults in what the operator typed; ends the command with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly faults: readonly string[]

  constructor(...faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** What a setting takes: why a text cannot be taken, or what it means. */
interface Kind<T> {
  /** Undefined for a text that can be taken. */
  readonly fault: (text: string) => string | undefined
  /** The value of a text that has no fault. */
  readonly parse: (text: string) => T
}

/** A setting: `--name` on the command line, `DOSSIER_NAME` in the environment. */
interface Setting extends Kind<unknown> {
  readonly name: string
  /** The word for its value in the help. */
  readonly value: string
  readonly default: string
  readonly meaning: string
}

function integer(minimum: number, maximum: number): Kind<number> {
  const isInRange = (text: string) =>
    /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
  return {
    fault: (text) =>
      isInRange(text) ? undefined : `must be an integer from ${minimum} to ${maximum}`,
    parse: Number,
  }
}

/** An integer, or a word that means something else. */
function integerOr<T>(word: string, meant: () => T, [minimum, maximum]: [number, number]) {
  const { fault, parse } = integer(minimum, maximum)
  const kind: Kind<number | T> = {
    fault: (text) =>
      text === word || fault(text) === undefined ? undefined : `${fault(text) ?? ''}, or ${word}`,
    parse: (text) => (text === word ? meant() : parse(text)),
  }
  return kind
}

function oneOf<Word extends string>(...words: readonly Word[]): Kind<Word> {
  return {
    fault: (text) =>
      (words as readonly string[]).includes(text)
        ? undefined
        : `must be one of ${words.join(', ')}`,
    parse: (text) => text as Word,
  }
}

const yesOrNo: Kind<boolean> = { ...oneOf('yes', 'no'), parse: (text) => text === 'yes' }

/** A list with commas between; empty for `none`. */
function list(isPart: (part: string) => boolean, takes: string): Kind<readonly string[]> {
  const parse = (text: string) =>
    text === 'none' ? [] : text.split(',').map((part) => part.trim())
  return { fault: (text) => (parse(text).every(isPart) ? undefined : `must be ${takes}`), parse }
}

function isOrigin(text: string): boolean {
  if (text === '*') return true
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** An address, or a network such as 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (bits === undefined || more.length > 0) return most > 0 && more.length === 0
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most
}

/** Undefined for `none`. */
const rate: Kind<Rate | undefined> = {
  fault: (text) =>
    text === 'none' || parseRate(text) ? undefined : `must be none, or ${rateForm}`,
  parse: parseRate,
}

const notEmpty: Kind<string> = {
  fault: (text) => (text.trim() === '' ? 'must not be empty' : undefined),
  parse: (text) => text,
}

/** Why a value is no file's path: what looks like a URL would be taken for one, and be shown. */
function fileFault(value: string): string | undefined {
  if (value.trim() === '') return 'must not be empty'
  if (value !== value.trim()) return 'must not begin or end with a blank'
  const isUrl = /^[a-z][a-z0-9+.-]*:\//i.test(value)
  return isUrl || withoutPasswords(value) !== value
    ? 'must be a file; write ./NAME where its name looks like a URL'
    : undefined
}

/** Why a value names no store: neither a file nor the URL of a PostgreSQL. */
function storeFault(value: string): string | undefined {
  if (!/^postgres(ql)?:\/\//i.test(value)) {
    return fileFault(value)?.replace(/^must be a file/, 'must be a file, or begin with postgres://')
  }
  return URL.canParse(value) && !hasStrayPassword(value)
    ? undefined
    : 'must be a URL such as postgres://user@host:5432/database, ' +
        'with special characters of a password percent-encoded'
}

function redisFault(value: string): string | undefined {
  const url = URL.parse(value)
  const isRedis = url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== ''
  return value === 'none' || (isRedis && !hasStrayPassword(value) && value === value.trim())
    ? undefined
    : 'must be none, or a URL such as redis://host:6379'
}

/** The settings; a command takes those that it names. */
export const settings = {
  db: {
    name: 'db',
    value: 'STORE',
    default: 'dossier.db',
    meaning: 'the store: a file, or the URL of a PostgreSQL (postgres://…); made by an import',
    fault: storeFault,
    parse: String,
  },
  host: {
    name: 'host',
    value: 'ADDRESS',
    default: '127.0.0.1',
    meaning: 'the address to listen on; 0.0.0.0 for every one that the machine has',
    ...notEmpty,
  },
  port: {
    name: 'port',
    value: 'N',
    default: '8080',
    meaning: 'the port to listen on; 0 for any free one',
    ...integer(0, 65_535),
  },
  pool: {
    name: 'pool',
    value: 'N',
    default: '10',
    meaning: 'connections of all workers to a PostgreSQL, at the most',
    ...integer(1, 1_000),
  },
  waitMs: {
    name: 'wait-ms',
    value: 'N',
    default: '500',
    meaning: 'how long a request waits for a connection to a PostgreSQL before it is answered 503',
    ...integer(1, 60_000),
  },
  statementMs: {
    name: 'statement-ms',
    value: 'N',
    default: '1000',
    meaning: 'how long a PostgreSQL may take over a request before it is answered 503',
    ...integer(1, 60_000),
  },
  reusePort: {
    name: 'reuse-port',
    value: 'yes|no',
    default: 'no',
    meaning: 'yes lets a new server take over the port of one that still runs, if both say so',
    ...yesOrNo,
  },
  workers: {
    name: 'workers',
    value: 'N',
    default: '1',
    meaning: 'how many processes answer requests; auto for one each core',
    ...integerOr('auto', availableParallelism, [1, 256]),
  },
  cacheMib: {
    name: 'cache-mib',
    value: 'N',
    default: '64',
    meaning: 'memory for ready pages of all workers, in MiB; 0 for none',
    ...integer(0, 1_048_576),
  },
  stopSeconds: {
    name: 'stop-seconds',
    value: 'N',
    default: '10',
    meaning: 'how long running requests may take to end when the server is told to stop',
    ...integer(0, 3_600),
  },
  connectionsMax: {
    name: 'connections-max',
    value: 'N',
    default: '10000',
    meaning: 'how many connections are held; one more is closed at once',
    ...integer(1, 1_000_000),
  },
  requestsMax: {
    name: 'requests-max',
    value: 'N',
    default: '2000',
    meaning: 'how many requests may be under way; one more is a 503',
    ...integer(1, 1_000_000),
  },
  delayMsMax: {
    name: 'delay-ms-max',
    value: 'N',
    default: '500',
    meaning: 'how late the server may be, in milliseconds; while it is later, requests are a 503',
    ...integer(1, 60_000),
  },
  corsOrigin: {
    name: 'cors-origin',
    value: 'ORIGINS',
    default: 'none',
    meaning: 'pages that may read answers: origins such as https://example.org, commas between; *',
    ...list(isOrigin, 'none, *, or origins such as https://example.org, commas between'),
  },
  trustProxy: {
    name: 'trust-proxy',
    value: 'ADDRESSES',
    default: 'none',
    meaning: 'proxies whose X-Forwarded-For counts: addresses, networks (10.0.0.0/8), with commas',
    ...list(isNetwork, 'none, or addresses and networks (10.0.0.0/8), commas between'),
  },
  defaultRate: {
    name: 'default-rate',
    value: 'RATE',
    default: 'none',
    meaning:
      'how often a key without a rate of its own may ask, such as 600/300s; none for no bound',
    ...rate,
  },
  redisUrl: {
    name: 'redis-url',
    value: 'URL',
    default: 'none',
    meaning: 'a Redis through which several servers share rates, such as redis://host:6379',
    fault: redisFault,
    parse: (text: string) => (text === 'none' ? undefined : text),
  },
  badKeyRate: {
    name: 'bad-key-rate',
    value: 'RATE',
    default: '100/60s',
    meaning: 'how many keys that are none an address may try; none for no bound',
    ...rate,
  },
  usageDb: {
    name: 'usage-db',
    value: 'FILE',
    default: 'auto',
    meaning: 'where uses of keys are counted; auto for a file beside the store; none for nowhere',
    fault: fileFault,
    parse: (text: string) => (text === 'none' ? undefined : text),
  },
  usageSeconds: {
    name: 'usage-seconds',
    value: 'N',
    default: '60',
    meaning: 'how often they are written, in seconds: what a crash may lose',
    ...integer(1, 60),
  },
  metricsPort: {
    name: 'metrics-port',
    value: 'N',
    default: 'off',
    meaning:
      'the port of a listener of its own for Prometheus (/metrics); 0 for any free one, or off',
    ...integerOr('off', () => undefined, [0, 65_535]),
  },
  metricsHost: {
    name: 'metrics-host',
    value: 'ADDRESS',
    default: '127.0.0.1',
    meaning: 'the address that the metrics are on; they need no key',
    ...notEmpty,
  },
  logLevel: {
    name: 'log-level',
    value: 'LEVEL',
    default: 'info',
    meaning: 'the least important lines that are logged: error, warn, info, debug or silent',
    ...oneOf('error', 'warn', 'info', 'debug', 'silent'),
  },
  logFormat: {
    name: 'log-format',
    value: 'FORMAT',
    default: 'auto',
    meaning: 'json, text, or auto: text on a terminal, JSON elsewhere',
    ...oneOf('auto', 'json', 'text'),
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings
/** The values of all settings, parsed; `none` and `off` are undefined. */
export type Settings = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['parse']>
}
/** Settings as text, as an operator gives them. */
export type SettingTexts = Readonly<Record<SettingName, string>>

const prefix = 'DOSSIER_'

/** The environment variable of a setting. */
export function variableOf({ name }: Setting): string {
  return prefix + name.toUpperCase().replaceAll('-', '_')
}

/** Where a value comes from. */
export type Origin = 'option' | 'environment' | 'default'

/** A setting as it was found, good or not. */
interface ResolvedSetting {
  readonly key: SettingName
  readonly setting: Setting
  readonly value: string
  readonly origin: Origin
  /** What is wrong with the value, as a line for the operator. */
  readonly fault: string | undefined
}

/** All settings as they were found, in the order of the table, and all that is wrong. */
export interface ResolvedSettings {
  readonly resolved: readonly ResolvedSetting[]
  readonly faults: readonly string[]
}

/**
 * Finds the value of every setting: the option, else the environment variable, else the default.
 *
 * @param options the options that were given, by their names.
 * @param defaults those that are others than the table's.
 * @returns faults of values, and variables with our prefix that are no settings.
 */
export function resolveSettings(
  options: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Partial<SettingTexts> = {},
): ResolvedSettings {
  const keys = Object.keys(settings) as SettingName[]
  const resolved = keys.map((key) => resolve(key, options, environment, defaults))
  const faults = resolved.map(({ fault }) => fault).filter((fault) => fault !== undefined)
  return { resolved, faults: [...unknownVariables(environment), ...faults] }
}

/** @throws UsageError that lists every fault. */
export function settingsOf({ resolved, faults }: ResolvedSettings): Settings {
  if (faults.length > 0) throw new UsageError(...faults)
  const values = resolved.map(({ key, setting, value }) => [key, setting.parse(value)])
  return Object.fromEntries(values) as Settings
}

function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(settings).map(variableOf)
  return (
    Object.keys(environment)
      .filter((name) => name.startsWith(prefix) && !known.includes(name))
      // The suite's own switches are none of the program's.
      .filter((name) => !name.startsWith(`${prefix}TEST_`))
      .filter((name) => !isOfKubernetes(name, environment[name]))
      .map((name) => {
        const near = nearest(
          name.slice(prefix.length),
          known.map((variable) => variable.slice(prefix.length)),
        )
        return `${name} is no setting${near ? `; did you mean ${prefix}${near}?` : ''}`
      })
  )
}

/**
 * Whether Kubernetes has set a variable: it gives each container the address of each Service of its
 * namespace, as `DOSSIER_SERVICE_HOST` and `DOSSIER_PORT=tcp://10.0.0.1:80` for one named `dossier`,
 * and `DOSSIER_REDIS_…` for `dossier-redis`.
 */
function isOfKubernetes(name: string, value = ''): boolean {
  return (
    /_SERVICE_(?:HOST|PORT)$/.test(name) ||
    name.includes('_SERVICE_PORT_') ||
    /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name) ||
    (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\/\S+:\d+$/.test(value))
  )
}

function resolve(
  key: SettingName,
  options: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Partial<SettingTexts>,
): ResolvedSetting {
  const setting: Setting = settings[key]
  const variable = variableOf(setting)
  const option = options[setting.name]
  const given = environment[variable]
  const inEnvironment = isOfKubernetes(variable, given) ? undefined : given
  const [value, origin]: [string, Origin] =
    option !== undefined
      ? [option, 'option']
      : inEnvironment !== undefined
        ? [inEnvironment, 'environment']
        : [defaults[key] ?? setting.default, 'default']
  const wrong = setting.fault(value)
  const where = origin === 'option' ? `--${setting.name}` : variable
  const fault = wrong && `${where} is ${JSON.stringify(withoutPasswords(value))}; it ${wrong}`
  return { key, setting, value, origin, fault }
}
