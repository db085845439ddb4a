// Repeatable random numbers and moments: the same seed makes the same registry on every machine, in
// fixed years, independent of the clock.

/** A source of random numbers. */
export type Random = ReturnType<typeof createRandom>

/** Mulberry32: 32 bits of state are plenty for a demo. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** An integer from `minimum` to `maximum`, both included. */
  const integer = (minimum: number, maximum: number) =>
    minimum + Math.floor(next() * (maximum - minimum + 1))
  return {
    integer,
    pick<T>(values: readonly T[]): T {
      const value = values[integer(0, values.length - 1)]
      if (value === undefined) throw new RangeError('nothing to pick from')
      return value
    },
    /** True once in `times` on average. */
    oneIn: (times: number) => integer(1, times) === 1,
  }
}

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
