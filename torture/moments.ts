// Moments by chance at which an import is harmed: denser where harm could be done.

import type { Random } from '../src/demo/random.ts'
import type { CaseName } from './cases.ts'
import type { Outcome } from './outcome.ts'

/** A part of an import's course. */
export interface Phase<Name extends string> {
  /** What it begins with, such as `its start`. */
  readonly name: Name
  /** How many of a hundred moments fall into it. */
  readonly chance: number
  readonly spanMs: number
}

/** A moment: so long after a phase has begun. */
export interface Moment<Name extends string> {
  readonly phase: Name
  readonly delayMs: number
}

/** What was done at a moment; late is what came when the import had ended. */
export interface Trial {
  readonly outcome: Outcome
  readonly isLate: boolean
}

/** How often an import is harmed. */
export interface Share {
  readonly name: CaseName
  readonly times: number
}

/** First loads as often as asked, and updates, too; companies and records in turn. */
export function shareOut(kills: number): Share[] {
  return (['first load', 'update'] as const).flatMap((kind) =>
    (['companies', 'events'] as const).map((target, index) => ({
      name: `${target}, ${kind}` as const,
      times: Math.floor((kills + index) / 2),
    })),
  )
}

/** Harms an import over and over; what comes late counts for nothing. */
export async function* harmOften<Name extends string>(
  random: Random,
  times: number,
  phases: readonly Phase<Name>[],
  harm: (moment: Moment<Name>) => Promise<Trial>,
): AsyncGenerator<Outcome> {
  const spansMs = new Map(phases.map(({ name, spanMs }) => [name, spanMs]))
  for (let done = 0, tries = 0; done < times && tries < 2 * times; tries++) {
    const phase = choosePhase(random, phases)
    const delayMs = random.integer(0, Math.ceil((spansMs.get(phase) ?? 0) * 10)) / 10
    const { outcome, isLate } = await harm({ phase, delayMs })
    yield outcome
    if (!isLate) done += 1
    // It is quicker than when it was measured: the machine has less to do.
    else spansMs.set(phase, Math.max(delayMs * 0.9, 5))
  }
}

function choosePhase<Name extends string>(random: Random, phases: readonly Phase<Name>[]): Name {
  let left = random.integer(1, 100)
  const chosen = phases.find(({ chance }) => (left -= chance) <= 0)
  if (chosen === undefined) throw new Error('the chances of the phases are less than a hundred')
  return chosen.name
}
