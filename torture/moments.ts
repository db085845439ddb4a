// Random moments to disturb an import, more of them when it could do harm.

import type { Random } from '../src/demo/random.ts'
import type { CaseName } from './cases.ts'
import type { Outcome } from './outcome.ts'

export interface Phase<Name extends string> {
  /** The event that starts it, such as `its start`. */
  readonly name: Name
  /** The percentage of moments in this phase. */
  readonly chance: number
  readonly spanMs: number
}

/** A moment: a delay after the start of a phase. */
export interface Moment<Name extends string> {
  readonly phase: Name
  readonly delayMs: number
}

/** The result of a disturbance; it is late if the import had ended already. */
export interface Trial {
  readonly outcome: Outcome
  readonly isLate: boolean
}

/** How often an import is disturbed. */
export interface Share {
  readonly name: CaseName
  readonly times: number
}

/**
 * Distributes kills: `kills` for first loads and for updates each, half as many for reverts. Half
 * of them are for companies.
 */
export function shareOut(kills: number): Share[] {
  const kinds = { 'first load': kills, update: kills, revert: Math.ceil(kills / 2) }
  return (['first load', 'update', 'revert'] as const).flatMap((kind) =>
    (['companies', 'events'] as const).map((target, index) => ({
      name: `${target}, ${kind}` as const,
      times: Math.floor((kinds[kind] + index) / 2),
    })),
  )
}

/** Disturbs an import repeatedly; a late disturbance does not count. */
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
    // The import is faster than when it was measured, since the machine is less busy.
    else spansMs.set(phase, Math.max(delayMs * 0.9, 5))
  }
}

function choosePhase<Name extends string>(random: Random, phases: readonly Phase<Name>[]): Name {
  let left = random.integer(1, 100)
  const chosen = phases.find(({ chance }) => (left -= chance) <= 0)
  if (chosen === undefined) throw new Error('the chances of the phases are less than a hundred')
  return chosen.name
}
