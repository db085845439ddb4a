// The findings of campaigns: one outcome for each trial.

import type { Random } from '../src/demo/random.ts'
import { verifyStore } from '../test/support/verify-store.ts'

export interface Outcome {
  /** The disturbance, such as `killed 412 ms after its start`. */
  readonly what: string
  /** The finding, such as `the state before`. */
  readonly found: string
  /** The fault; undefined if there is none. */
  readonly fault?: string | undefined
  /** The trial is not possible on this machine; `found` says why. */
  readonly isSkipped?: boolean
}

/** The parameters of a campaign. */
export interface Ground {
  readonly random: Random
  /** What `random` began with. */
  readonly seed: number
  /** The number of first loads to kill, and of updates. */
  readonly kills: number
  /** The number of rows of the extracts; 20,000 take about a second to import. */
  readonly rows: number
  /** A folder for the campaign, removed at the end. */
  readonly folder: string
  /** Whether to run fewer trials of each kind and check no times. */
  readonly isShort: boolean
}

/** A campaign: repeats trials, and yields each outcome. */
export type Campaign = (ground: Ground) => AsyncGenerator<Outcome>

/** Returns the first fault of several checks. */
export function firstFault(...faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined)
}

/** The faults that `dossier verify` finds: in this process, which takes less than starting another. */
export async function faultOfVerify(db: string): Promise<string | undefined> {
  const { faults } = await verifyStore(db)
  return faults.length === 0 ? undefined : `verify: ${faults.join('; ')}`
}

/** Returns evenly spaced integers, including the first and the last. */
export function spread(from: number, to: number, count: number): number[] {
  if (to <= from || count < 2) return [from]
  const values = Array.from({ length: count }, (_, n) =>
    Math.round(from + (n * (to - from)) / (count - 1)),
  )
  return [...new Set(values)]
}
