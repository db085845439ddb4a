// The demo's calendar: fixed years, independent of the clock.

import type { Random } from './random.ts'

const dayMs = 86_400_000

/** The registry's first moment, in milliseconds since 1970. */
export const beginning = Date.UTC(2005, 0, 3)
/** The registry's last moment; nothing in it is later. */
export const end = Date.UTC(2024, 10, 20)

/** A random moment between the two. */
export function moment(random: Random): number {
  return random.integer(beginning, end - dayMs)
}

/** A random moment within `days` after another, and never after the registry's end. */
export function laterMoment(random: Random, since: number, days: number): number {
  return random.integer(since, Math.min(since + days * dayMs, end))
}

/** A moment's day, such as `2019-08-02`. */
export function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** A moment to the second, such as `2019-08-02T09:12:44Z`. */
export function isoSecond(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}
