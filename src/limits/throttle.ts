// Whoever tries keys that are none is slowed down, by the address that the attempts come from.

import { isIP } from 'node:net'
import type { Awaitable } from '../store/awaitable.ts'
import type { Rate } from '../rate.ts'
import { createWindows } from './windows.ts'

/** How many addresses are remembered. */
export const addressesMax = 100_000

/** Counts failed attempts by address. Times are in seconds, rounded up. */
export interface Throttle {
  /** How long an address has to wait; undefined where it may try. */
  waitOf(address: string | undefined): Awaitable<number | undefined>
  /** Counts a failed attempt; gives how long the address has to wait, if that was one too many. */
  fail(address: string | undefined): Awaitable<number | undefined>
}

/** @param clock gives milliseconds that are never set back. */
export function createThrottle({ quota, seconds }: Rate, clock: () => number): Throttle {
  const failures = createWindows<string>(addressesMax)
  const secondsTo = (endsAt: number, now: number) => Math.ceil((endsAt - now) / 1_000)
  return {
    waitOf(address) {
      if (failures.size === 0) return undefined
      const now = clock()
      const window = failures.find(networkOf(address), now)
      return window && window.count >= quota ? secondsTo(window.endsAt, now) : undefined
    },
    fail(address) {
      const now = clock()
      const { count, endsAt } = failures.count(networkOf(address), seconds * 1_000, now)
      return count > quota ? secondsTo(endsAt, now) : undefined
    },
  }
}

/**
 * What one client has of addresses: an IPv4 address, or the first 64 bits of an IPv6 one
 * (RFC 6177), in one spelling. What is no address, as a proxy may pass it on, is all one.
 */
export function networkOf(address = ''): string {
  const version = isIP(address)
  if (version === 0) return 'unknown'
  if (version === 4) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [left = '', right] = address.toLowerCase().split('%', 1)[0]?.split('::') ?? []
  const groups = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  if (right !== undefined) {
    while (groups.length + tail.length < 8) groups.push('0')
    groups.push(...tail)
  }
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
