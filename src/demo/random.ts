// Repeatable random numbers: the same seed makes the same registry on every machine.

/** A source of random numbers. */
export interface Random {
  /** An integer from `minimum` to `maximum`, both included. */
  integer(minimum: number, maximum: number): number
  pick<T>(values: readonly T[]): T
  /** True once in `times` on average. */
  oneIn(times: number): boolean
}

/** Mulberry32: 32 bits of state are plenty for a demo. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (minimum: number, maximum: number) =>
    minimum + Math.floor(next() * (maximum - minimum + 1))
  return {
    integer,
    pick(values) {
      const value = values[integer(0, values.length - 1)]
      if (value === undefined) throw new RangeError('nothing to pick from')
      return value
    },
    oneIn: (times) => integer(1, times) === 1,
  }
}
