// Judges what a disturbed import has left, and whether that matches what it reported.

import type { ImportCase } from './cases.ts'
import { faultOfVerify, firstFault, type Outcome } from './outcome.ts'
import { describeEnd, type Ended, faultOfRefusal, isDone, isUnknown, runHere } from './processes.ts'
import { isSameRegistry, type StoreState, whichState } from './store-state.ts'

/**
 * Judges an import that met a fault: it either reports the fault and leaves the state before, or
 * succeeds (as after a fault behind the commit) and leaves the state after. One that was killed, or
 * has lost its connection during COMMIT, may have left either, but only the one after if it said
 * `Committed`.
 */
export async function judge(tried: ImportCase, what: string, ended: Ended): Promise<Outcome> {
  const { found, fault, which } = await examine(tried)
  const isKilled = ended.signal === 'SIGKILL'
  const said = isDone(ended) ? 'after' : isKilled || isUnknown(ended) ? which : 'before'
  return {
    what: `${tried.name}: ${what}`,
    found: `${describeEnd(ended)}, after ${ended.ms.toFixed(0)} ms; ${found}`,
    fault: firstFault(
      fault,
      which === said ? undefined : `it ended as if it were the state ${said}`,
      isDone(ended) || isKilled ? undefined : faultOfRefusal(ended),
    ),
  }
}

/** The state that a trial has left. */
export interface Finding {
  readonly found: string
  readonly fault: string | undefined
  readonly which: 'before' | 'after' | undefined
}

/**
 * Checks that a trial has left exactly the state before or after, and that the next import succeeds
 * and leads to the state after. The next import gets a copy that was made first, so that it has to
 * recover the store itself.
 */
export async function examine(tried: ImportCase): Promise<Finding> {
  const { stores, db } = tried
  const rest = await stores.faultOfRest(db)
  const next = stores.at(tried.folder, 'next')
  await stores.copy(db, next)
  const state = await stores.readState(db, tried.isFirstLoad)
  const which = whichState(state, tried)
  const fault =
    firstFault(
      rest,
      state.integrity === 'ok' ? undefined : `the store’s own check: ${state.integrity}`,
      which === undefined ? `neither state: ${difference(state, tried)}` : undefined,
    ) ??
    // Not before all tables exist.
    (state.schema === tried.after.schema ? await faultOfVerify(db) : undefined) ??
    (await faultOfNext(tried, next))
  await stores.clear(next)
  return { found: `the state ${which ?? 'of neither'}`, fault, which }
}

function difference(state: StoreState, { before, after }: ImportCase): string {
  const parts = ['tables', 'log', 'served', 'schema', 'version'] as const
  const unlike = (other: StoreState) => parts.filter((part) => state[part] !== other[part])
  return `not before (${unlike(before).join(', ')}), not after (${unlike(after).join(', ')})`
}

async function faultOfNext(tried: ImportCase, db: string): Promise<string | undefined> {
  const { stores } = tried
  const ended = await runHere(tried.args(db))
  if (ended.code !== 0) return `the next import ${describeEnd(ended)}`
  const state = await stores.readState(db, tried.isFirstLoad)
  if (state.integrity !== 'ok') return `the check after the next import: ${state.integrity}`
  if (!isSameRegistry(state, tried.after)) {
    return `the next import gives another state: ${difference(state, tried)}`
  }
  return stores.faultOfRest(db)
}
