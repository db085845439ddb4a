// Keys and their format (contract 2.4): `dossier_`, 256 random bits, and a checksum of both. A key
// is shown once, and stored as a hash.

import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'dossier_'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^43 is more than 2^256, 62^6 more than 2^32. */
const secretLength = 43
const checksumLength = 6
const keyPattern = new RegExp(`^${prefix}[0-9A-Za-z]{${secretLength + checksumLength}}$`)

export type IssuedKey = ReturnType<typeof makeIssuedKey>

/** Creates a key from 32 random bytes: its plain text, and what is stored of it. */
export function makeIssuedKey() {
  const plain = makeKey(randomBytes(32))
  const stored = { hint: keyHint(plain), hash: Buffer.from(hashKey(plain), 'latin1') }
  return { plain, stored }
}

/** Creates a key from 32 random bytes. */
export function makeKey(random: Uint8Array): string {
  const secret = BigInt(`0x${Buffer.from(random).toString('hex')}`)
  const body = prefix + base62(secret, secretLength)
  return body + checksum(body)
}

/** Whether a text can be a key; if not, the store is not read (contract 2.4). */
export function isWellFormedKey(text: string): boolean {
  if (!keyPattern.test(text)) return false
  const body = text.slice(0, -checksumLength)
  return text.slice(-checksumLength) === checksum(body)
}

/**
 * The hash of a key that is stored: 32 bytes, here as Latin-1 text, which is quick to make and to
 * compare. A plain SHA-256 suffices: 256 random bits cannot be guessed, so a slow hash would only
 * cost time.
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'latin1')
}

/** The first and last characters of a key, by which its owner recognises it. */
export function keyHint(key: string): string {
  return `${key.slice(0, prefix.length + 4)}…${key.slice(-4)}`
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumLength)
}

function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = alphabet.charAt(Number(rest % 62n)) + digits
  }
  return digits
}
