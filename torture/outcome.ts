// What a campaign finds: one outcome for each thing that was done to an import.

import type { Random } from '../src/demo/random.ts'

/** What became of one trial. */
export interface Outcome {
  /** What was done, such as `killed 412 ms after its start`. */
  readonly what: string
  /** What was found, such as `the state before`. */
  readonly found: string
  /** What is wrong with it; undefined where all is well. */
  readonly fault?: string | undefined
  /** It could not be tried on this machine; `found` says why. */
  readonly isSkipped?: boolean
}

/** What a campaign may use. */
export interface Ground {
  readonly random: Random
  /** How many imports are to be killed, of first loads and of updates each. */
  readonly kills: number
  /** How many rows the extracts have; 20,000 take about a second to import. */
  readonly rows: number
  /** A folder of its own, removed at the end. */
  readonly folder: string
  /** Short forms take fewer trials of each kind, and hold no time to a bound. */
  readonly isShort: boolean
}

/** A campaign: tries something over and over, and tells each outcome. */
export type Campaign = (ground: Ground) => AsyncGenerator<Outcome>

/** The first thing that is wrong, of several that were looked at. */
export function firstFault(...faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined)
}

/** Takes values apart from each other, the first and the last included. */
export function spread(from: number, to: number, count: number): number[] {
  if (to <= from || count < 2) return [from]
  const values = Array.from({ length: count }, (_, n) =>
    Math.round(from + (n * (to - from)) / (count - 1)),
  )
  return [...new Set(values)]
}
