// Slows down clients that try invalid keys, by address.

import { isIPv4, isIPv6 } from 'node:net'
import type { Awaitable } from '../store/awaitable.ts'
import { createLru } from '../store/caching.ts'
import type { Rate } from '../config/rate.ts'
import { createWindows } from './windows.ts'

/** How many addresses are remembered. */
const addressesMax = 100_000
/** How many valid keys, and how many invalid ones, are remembered by their hashes. */
const keysMax = 20_000
/**
 * How many unknown keys are looked up per second for an address that has to wait. So a client with
 * a valid key gets through sooner or later, whatever other clients at its address do.
 */
export const reservedLookUps = 5
const reserveMs = 1_000

/** Counts failed attempts by address. Times are in seconds, rounded up. */
export interface Throttle {
  /**
   * How long an address has to wait before its key is looked up. Undefined for no wait: the address
   * has not failed too often, or the key was valid before, or it is unknown and may be valid.
   *
   * @param keyHash is the hash from `hashKey`.
   */
  waitOf(address: string | undefined, keyHash: string): Awaitable<number | undefined>
  /**
   * Counts a failed attempt; returns how long the address has to wait if that was one too many.
   *
   * @param keyHash is the hash of a key that was looked up and is invalid.
   */
  fail(address: string | undefined, keyHash?: string): Awaitable<number | undefined>
  /** Remembers a valid key. */
  noteGood(keyHash: string): void
}

/** @param clock returns milliseconds and never goes backwards. */
export function createThrottle({ quota, seconds }: Rate, clock: () => number): Throttle {
  const failures = createWindows<string>(addressesMax)
  const lookUps = createWindows<string>(addressesMax)
  const goodKeys = createLru<string, true>(keysMax)
  const badKeys = createLru<string, true>(keysMax)
  const secondsTo = (endsAt: number, now: number) => Math.ceil((endsAt - now) / 1_000)
  return {
    waitOf(address, keyHash) {
      if (failures.size === 0) return undefined
      const now = clock()
      const network = networkOf(address)
      const window = failures.find(network, now)
      if (window === undefined || window.count < quota) return undefined
      if (goodKeys.get(keyHash) !== undefined) return undefined
      // A client that repeats an invalid key does not use up the look-ups for unknown keys.
      const isNew = badKeys.get(keyHash) === undefined
      if (isNew && lookUps.count(network, reserveMs, now).count <= reservedLookUps) return undefined
      return secondsTo(window.endsAt, now)
    },
    fail(address, keyHash) {
      if (keyHash !== undefined) {
        goodKeys.delete(keyHash)
        badKeys.set(keyHash, true)
      }
      const now = clock()
      const { count, endsAt } = failures.count(networkOf(address), seconds * 1_000, now)
      return count > quota ? secondsTo(endsAt, now) : undefined
    },
    noteGood(keyHash) {
      badKeys.delete(keyHash)
      goodKeys.set(keyHash, true)
    },
  }
}

/**
 * The network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address
 * (RFC 6177), normalised. All invalid addresses, which a proxy may pass on, count as one client.
 */
function networkOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return 'unknown'
  const [head = [], tail = []] = plain
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  const network = [...head, ...zeros, ...tail].slice(0, 4)
  return network.map((group) => parseInt(group, 16).toString(16)).join(':')
}
