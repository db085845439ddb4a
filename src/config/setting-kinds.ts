// The kinds of values that settings have: how their texts are checked and parsed.

import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseRate, type Rate, rateForm } from './rate.ts'
import { hasStrayPassword, withoutPasswords } from '../text/redact.ts'

/** How the text of a setting is checked and parsed. */
export interface Kind<T> {
  /** The placeholder for a value in the help. */
  readonly value: string
  /** Why a text is not valid; undefined for a valid one. */
  readonly fault: (text: string) => string | undefined
  /** The value of a valid text. */
  readonly parse: (text: string) => T
}

export function integer(minimum: number, maximum: number): Kind<number> {
  const isInRange = (text: string) =>
    /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
  return {
    value: 'N',
    fault: (text) =>
      isInRange(text) ? undefined : `must be an integer from ${minimum} to ${maximum}`,
    parse: Number,
  }
}

/** Another kind, or a word that means something else; faults name the word if the kind does. */
export function orWord<T, M>(word: string, meant: M, kind: Kind<T>): Kind<T | M> {
  return {
    value: kind.value,
    fault: (text) => (text === word ? undefined : kind.fault(text)),
    parse: (text) => (text === word ? meant : kind.parse(text)),
  }
}

/** Another kind, with `none` for undefined. */
export function orNone<T>(kind: Kind<T>): Kind<T | undefined> {
  return orWord('none', undefined, kind)
}

/** An integer, or a word that means something else. */
export function integerOr<M>(word: string, meant: M, [minimum, maximum]: [number, number]) {
  const kind = integer(minimum, maximum)
  const fault = (text: string) => {
    const reason = kind.fault(text)
    return reason && `${reason}, or ${word}`
  }
  return orWord(word, meant, { ...kind, fault })
}

export function oneOf<Word extends string>(value: string, ...words: readonly Word[]): Kind<Word> {
  return {
    value,
    fault: (text) =>
      (words as readonly string[]).includes(text)
        ? undefined
        : `must be one of ${words.join(', ')}`,
    parse: (text) => text as Word,
  }
}

export const yesOrNo: Kind<boolean> = {
  ...oneOf('yes|no', 'yes', 'no'),
  parse: (text) => text === 'yes',
}

/** A comma-separated list; empty for `none`. */
function list(
  value: string,
  isPart: (part: string) => boolean,
  takes: string,
): Kind<readonly string[]> {
  const parse = (text: string) =>
    text === 'none' ? [] : text.split(',').map((part) => part.trim())
  const fault = (text: string) => (parse(text).every(isPart) ? undefined : `must be ${takes}`)
  return { value, fault, parse }
}

function isOrigin(text: string): boolean {
  if (text === '*') return true
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

export const origins = list(
  'ORIGINS',
  isOrigin,
  'none, *, or origins such as https://example.org, separated by commas',
)

/** An address, or a network such as 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  // The package that compares addresses knows no other zones.
  if (/%.*[^\da-z]/i.test(address)) return false
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  if (bits === undefined || more.length > 0) return most > 0 && more.length === 0
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most
}

export const networks = list(
  'ADDRESSES',
  isNetwork,
  'none, or addresses and networks (10.0.0.0/8), separated by commas',
)

/** A rate; undefined for `none`. */
export const rate: Kind<Rate | undefined> = orNone({
  value: 'RATE',
  fault: (text) => (parseRate(text) ? undefined : `must be none, or ${rateForm}`),
  parse: parseRate,
})

export function notEmpty(value: string): Kind<string> {
  return {
    value,
    fault: (text) => (text.trim() === '' ? 'must not be empty' : undefined),
    parse: String,
  }
}

/** A folder, which need not exist yet. */
export const folder: Kind<string> = {
  value: 'DIR',
  fault: (text) =>
    isNoFolder(text) || text === '-' ? 'must be a folder' : notEmpty('DIR').fault(text),
  parse: String,
}

function isNoFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false
  } catch {
    // Whatever is wrong with the path is reported where it is used.
    return false
  }
}

/** Why a value is not a file: a mistyped URL would be used as a name, and its password shown. */
function fileFault(value: string): string | undefined {
  if (value.trim() === '') return 'must not be empty'
  if (value !== value.trim()) return 'must not begin or end with a space'
  if (value === '-') return 'must be a file; write ./- if its name is -'
  // A store named :memory: would be in memory alone, and gone at the end.
  const isUrl = /^[a-z][a-z0-9+.-]*:\/|^:memory:$/i.test(value)
  return isUrl || withoutPasswords(value) !== value
    ? 'must be a file; write ./NAME if its name looks like a URL'
    : undefined
}

/** Whether it is the URL of a PostgreSQL store; anything else is the path of a file. */
export function isServerStore(db: string): boolean {
  return /^postgres(ql)?:\/\//i.test(db)
}

// libpq tries one host after another; our driver does not.
const severalHosts = /^\w+:\/\/(?:[^/]*@)?[^/@?]*,|[?&]host=[^&?]*(?:,|%2c)/i

/** Why a value is not a store: neither a file nor the URL of a PostgreSQL database. */
function storeFault(value: string): string | undefined {
  if (!isServerStore(value)) {
    return fileFault(value)?.replace(/^must be a file/, 'must be a file, or begin with postgres://')
  }
  if (severalHosts.test(value)) return 'must name one host: for a failover, one that follows it'
  return URL.canParse(value) && !hasStrayPassword(value)
    ? undefined
    : 'must be a URL such as postgres://user@host:5432/database, ' +
        'with special characters of a password percent-encoded'
}

/** The values of `sslmode` in the URL of a store, and of PGSSLMODE. */
export const sslModes: readonly string[] = [
  'disable',
  'no-verify',
  'prefer',
  'require',
  'verify-ca',
  'verify-full',
]

/** What is wrong with PGSSLMODE; the driver uses no TLS if it does not know the value. */
export function sslModeFault(db: string, mode = ''): string | undefined {
  const isUsed = isServerStore(db) && URL.parse(db)?.searchParams.has('sslmode') === false
  if (!isUsed || mode === '' || sslModes.includes(mode)) return undefined
  return `PGSSLMODE is ${JSON.stringify(mode)}; it must be one of ${sslModes.join(', ')}`
}

function redisFault(value: string): string | undefined {
  const url = URL.parse(value)
  const isRedis = url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== ''
  return isRedis && isTaken(url) && !hasStrayPassword(value) && value === value.trim()
    ? undefined
    : 'must be none, or a URL such as redis://host:6379, ' +
        'with special characters of a password percent-encoded'
}

/** Whether the client of Redis can take the database and the password from a URL. */
function isTaken({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(username)
    decodeURIComponent(password)
  } catch {
    return false
  }
  return /^(\/\d*)?$/.test(pathname)
}

/** The path of a file. */
export const file: Kind<string> = { value: 'FILE', fault: fileFault, parse: String }

/** The path of a file, or the URL of a PostgreSQL database. */
export const store: Kind<string> = { value: 'STORE', fault: storeFault, parse: String }

/** The URL of a Redis; undefined for `none`. */
export const redis: Kind<string | undefined> = orNone({
  value: 'URL',
  fault: redisFault,
  parse: String,
})
