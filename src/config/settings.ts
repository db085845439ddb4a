// Every setting, in one table: option, environment variable, default and meaning.

import { availableParallelism } from 'node:os'
import {
  file,
  integer,
  integerOr,
  isNetwork,
  isOrigin,
  type Kind,
  list,
  notEmpty,
  oneOf,
  orAuto,
  orNone,
  rate,
  redis,
  store,
  yesOrNo,
} from './setting-kinds.ts'

/** One or more errors in the command's arguments or settings; the command exits with code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly faults: readonly string[]

  constructor(...faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** A setting: `--name` on the command line, `DOSSIER_NAME` in the environment. */
export interface Setting extends Kind<unknown> {
  readonly name: string
  /** The placeholder for its value in the help. */
  readonly value: string
  readonly default: string
  readonly meaning: string
}

/** All settings; each command accepts those that it lists. */
export const settings = {
  db: {
    name: 'db',
    value: 'STORE',
    default: 'dossier.db',
    meaning: 'the store: a file, or the URL of a PostgreSQL (postgres://…); an import creates it',
    ...store,
  },
  withheld: {
    name: 'withheld',
    value: 'FILE',
    default: 'auto',
    meaning: 'the list of what is withheld; auto for one beside the store, to be backed up apart',
    ...orAuto(file),
  },
  host: {
    name: 'host',
    value: 'ADDRESS',
    default: '127.0.0.1',
    meaning: 'the address to listen on; 0.0.0.0 for all network interfaces',
    ...notEmpty,
  },
  port: {
    name: 'port',
    value: 'N',
    default: '8080',
    meaning: 'the port to listen on; 0 picks a free one',
    ...integer(0, 65_535),
  },
  pool: {
    name: 'pool',
    value: 'N',
    default: '10',
    meaning: 'the maximum of connections to PostgreSQL, all workers together',
    ...integer(1, 1_000),
  },
  waitMs: {
    name: 'wait-ms',
    value: 'N',
    default: '500',
    meaning: 'milliseconds that a request waits for a connection to PostgreSQL; then it gets a 503',
    ...integer(1, 60_000),
  },
  statementMs: {
    name: 'statement-ms',
    value: 'N',
    default: '1000',
    meaning: 'milliseconds that PostgreSQL may take for a request; then it gets a 503',
    ...integer(1, 60_000),
  },
  reusePort: {
    name: 'reuse-port',
    value: 'yes|no',
    default: 'no',
    meaning: 'yes lets a new server share the port of a running one, if both are started with it',
    ...yesOrNo,
  },
  workers: {
    name: 'workers',
    value: 'N',
    default: '1',
    meaning: 'processes that answer requests; auto for one per core',
    ...integerOr('auto', availableParallelism, [1, 256]),
  },
  cacheMib: {
    name: 'cache-mib',
    value: 'N',
    default: '64',
    meaning: 'memory for cached answers in MiB, all workers together; 0 for no cache',
    ...integer(0, 1_048_576),
  },
  stopSeconds: {
    name: 'stop-seconds',
    value: 'N',
    default: '10',
    meaning: 'seconds that running requests get to finish when the server stops',
    ...integer(0, 3_600),
  },
  connectionsMax: {
    name: 'connections-max',
    value: 'N',
    default: '10000',
    meaning: 'the maximum of open connections; further ones are closed at once',
    ...integer(1, 1_000_000),
  },
  requestsMax: {
    name: 'requests-max',
    value: 'N',
    default: '2000',
    meaning: 'the maximum of requests in progress; further ones get a 503',
    ...integer(1, 1_000_000),
  },
  delayMsMax: {
    name: 'delay-ms-max',
    value: 'N',
    default: '500',
    meaning: 'the maximum event loop delay in milliseconds; above it, requests get a 503',
    ...integer(1, 60_000),
  },
  corsOrigin: {
    name: 'cors-origin',
    value: 'ORIGINS',
    default: 'none',
    meaning:
      'origins whose pages may read answers, comma-separated (https://example.org); * for all',
    ...list(isOrigin, 'none, *, or origins such as https://example.org, separated by commas'),
  },
  trustProxy: {
    name: 'trust-proxy',
    value: 'ADDRESSES',
    default: 'none',
    meaning: 'proxies whose X-Forwarded-For is trusted: addresses or networks, comma-separated',
    ...list(isNetwork, 'none, or addresses and networks (10.0.0.0/8), separated by commas'),
  },
  defaultRate: {
    name: 'default-rate',
    value: 'RATE',
    default: 'none',
    meaning: 'the rate limit of keys without one of their own, such as 600/300s; none for no limit',
    ...rate,
  },
  redisUrl: {
    name: 'redis-url',
    value: 'URL',
    default: 'none',
    meaning: 'a Redis through which servers share rate limits, such as redis://host:6379',
    ...redis,
  },
  badKeyRate: {
    name: 'bad-key-rate',
    value: 'RATE',
    default: '100/60s',
    meaning: 'how many invalid keys an address may try; none for no limit',
    ...rate,
  },
  usageDb: {
    name: 'usage-db',
    value: 'FILE',
    default: 'auto',
    meaning:
      'the file that counts the use of keys; auto for one beside the store, none for no count',
    ...orNone(file),
  },
  usageSeconds: {
    name: 'usage-seconds',
    value: 'N',
    default: '60',
    meaning: 'seconds between writes of these counts; a crash may lose that much',
    ...integer(1, 60),
  },
  exports: {
    name: 'exports',
    value: 'DIR',
    default: 'none',
    meaning: 'the folder of complete copies to offer, which dossier export writes; none for none',
    ...orNone(notEmpty),
  },
  explorer: {
    name: 'explorer',
    value: 'yes|no',
    default: 'yes',
    meaning: 'yes serves the explorer, a page in which people look at companies, at /',
    ...yesOrNo,
  },
  metricsPort: {
    name: 'metrics-port',
    value: 'N',
    default: 'off',
    meaning: 'the port for Prometheus (/metrics), apart from the API; 0 picks a free one; or off',
    ...integerOr('off', () => undefined, [0, 65_535]),
  },
  metricsHost: {
    name: 'metrics-host',
    value: 'ADDRESS',
    default: '127.0.0.1',
    meaning: 'the address that serves the metrics, which need no key',
    ...notEmpty,
  },
  logLevel: {
    name: 'log-level',
    value: 'LEVEL',
    default: 'info',
    meaning:
      'the least severe level that is logged: error, warn, info or debug; silent for nothing',
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
/** The parsed values of all settings; `off` is undefined, `none` undefined or an empty list. */
export type Settings = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]['parse']>
}
/** Settings as text, before they are parsed. */
export type SettingTexts = Readonly<Record<SettingName, string>>

/** The beginning of the names of our environment variables. */
export const variablePrefix = 'DOSSIER_'

/** The environment variable of a setting. */
export function variableOf({ name }: Setting): string {
  return variablePrefix + name.toUpperCase().replaceAll('-', '_')
}
