// Every setting, in one table: option, environment variable, default and meaning.

import { availableParallelism } from 'node:os'
import {
  file,
  folder,
  integer,
  integerOr,
  type Kind,
  networks,
  notEmpty,
  oneOf,
  origins,
  orNone,
  orWord,
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
  readonly default: string
  readonly meaning: string
}

function option<T>(name: string, defaultText: string, kind: Kind<T>) {
  return { ...kind, name, default: defaultText }
}

/** All settings; each command accepts those that it lists. */
export const settings = {
  db: {
    ...option('db', 'dossier.db', store),
    meaning:
      'the store: a file, or the URL of a PostgreSQL database (postgres://…); imports create it',
  },
  withheld: {
    ...option('withheld', 'auto', orWord('auto', undefined, file)),
    meaning: 'the list of what is withheld, to be backed up separately; auto: next to the store',
  },
  host: {
    ...option('host', '127.0.0.1', notEmpty('ADDRESS')),
    meaning: 'the address to listen on; 0.0.0.0 for all network interfaces',
  },
  port: {
    ...option('port', '8080', integer(0, 65_535)),
    meaning: 'the port to listen on; 0 picks a free one',
  },
  pool: {
    ...option('pool', '10', integer(1, 1_000)),
    meaning: 'the maximum number of connections to PostgreSQL, all workers together',
  },
  waitMs: {
    ...option('wait-ms', '500', integer(1, 60_000)),
    meaning:
      'milliseconds that a request waits for a connection to PostgreSQL before it gets a 503',
  },
  statementMs: {
    ...option('statement-ms', '1000', integer(1, 60_000)),
    meaning: 'milliseconds that PostgreSQL may take for a request before it gets a 503',
  },
  reusePort: {
    ...option('reuse-port', 'no', yesOrNo),
    meaning: 'yes lets a new server share the port of a running one, if both have this option',
  },
  workers: {
    ...option('workers', '1', integerOr('auto', availableParallelism(), [1, 256])),
    meaning: 'processes that answer requests; auto for one per core',
  },
  cacheMib: {
    ...option('cache-mib', '64', integer(0, 1_048_576)),
    meaning: 'memory for cached answers in MiB, all workers together; 0 for no cache',
  },
  stopSeconds: {
    ...option('stop-seconds', '10', integer(0, 3_600)),
    meaning: 'seconds that running requests have to finish when the server stops',
  },
  connectionsMax: {
    ...option('connections-max', '10000', integer(1, 1_000_000)),
    meaning: 'the maximum number of open connections; further ones are closed immediately',
  },
  requestsMax: {
    ...option('requests-max', '2000', integer(1, 1_000_000)),
    meaning: 'the maximum number of requests in progress; further ones get a 503',
  },
  delayMsMax: {
    ...option('delay-ms-max', '500', integer(1, 60_000)),
    meaning: 'the maximum event loop delay in milliseconds; above it, requests get a 503',
  },
  corsOrigin: {
    ...option('cors-origin', 'none', origins),
    meaning:
      'origins whose pages may read answers, comma-separated (https://example.org); * for all',
  },
  trustProxy: {
    ...option('trust-proxy', 'none', networks),
    meaning: 'proxies whose X-Forwarded-For is trusted: addresses or networks, comma-separated',
  },
  defaultRate: {
    ...option('default-rate', 'none', rate),
    meaning: 'the rate limit of keys without one of their own, such as 600/300s; none for no limit',
  },
  redisUrl: {
    ...option('redis-url', 'none', redis),
    meaning: 'a Redis through which servers share rate limits, such as redis://host:6379',
  },
  badKeyRate: {
    ...option('bad-key-rate', '100/60s', rate),
    meaning: 'how many invalid keys an address may try; none for no limit',
  },
  usageDb: {
    ...option('usage-db', 'auto', orNone(file)),
    meaning: 'the file that counts the use of keys; auto: next to the store; none: no counting',
  },
  usageSeconds: {
    ...option('usage-seconds', '60', integer(1, 60)),
    meaning: 'seconds between writes of these counts; a crash may lose that much',
  },
  exports: {
    ...option('exports', 'none', orNone(folder)),
    meaning: 'the folder of complete copies to offer (dossier export); none for no copies',
  },
  explorer: {
    ...option('explorer', 'yes', yesOrNo),
    meaning: 'yes serves the explorer, a page for looking at companies in a browser, at /',
  },
  metricsPort: {
    ...option('metrics-port', 'off', integerOr('off', undefined, [0, 65_535])),
    meaning: 'the port for Prometheus (/metrics), apart from the API; 0 picks a free one; or off',
  },
  metricsHost: {
    ...option('metrics-host', '127.0.0.1', notEmpty('ADDRESS')),
    meaning: 'the address that serves the metrics, which need no key',
  },
  logLevel: {
    ...option('log-level', 'info', oneOf('LEVEL', 'error', 'warn', 'info', 'debug', 'silent')),
    meaning:
      'the least severe level that is logged: error, warn, info or debug; silent for nothing',
  },
  logFormat: {
    ...option('log-format', 'auto', oneOf('FORMAT', 'auto', 'json', 'text')),
    meaning: 'json, text, or auto: text on a terminal, JSON elsewhere',
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

export function variableOf({ name }: Setting): string {
  return variablePrefix + name.toUpperCase().replaceAll('-', '_')
}
