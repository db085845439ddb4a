// What an import that was harmed has left, and whether that is what it said.

import { verifyStore } from '../test/support/verify-store.ts'
import type { ImportCase } from './cases.ts'
import { firstFault, type Outcome } from './outcome.ts'
import { describeEnd, type Ended, faultOfRefusal, runHere } from './processes.ts'
import { isSameRegistry, type StoreState, whichState } from './store-state.ts'

/**
 * Judges an import that met a fault: it says so and leaves the state before, or the fault did not
 * matter to it (such as one that comes after the commit) and it leaves the state after.
 */
export async function judge(tried: ImportCase, what: string, ended: Ended): Promise<Outcome> {
  const { found, fault, which } = await examine(tried)
  const said = ended.code === 0 ? 'after' : 'before'
  return {
    what: `${tried.name}: ${what}`,
    found: `${ended.signal ?? `exit code ${String(ended.code)}`}; ${found}; ${ended.err.trimEnd()}`,
    fault: firstFault(
      fault,
      which === said ? undefined : `it ended as if it were the state ${said}`,
      ended.code === 0 ? undefined : faultOfRefusal(ended),
    ),
  }
}

/** Judges an import that was killed: either state, but after it has said so, the state after. */
export async function judgeKilled(tried: ImportCase, what: string, end: Ended): Promise<Outcome> {
  const { found, fault, which } = await examine(tried)
  const isCommitted = end.out.includes('Committed')
  return {
    what: `${tried.name}: ${what}`,
    found: `${describeKill(end, isCommitted)}; ${found}`,
    fault: fault ?? (isCommitted && which === 'before' ? 'it had said Committed' : undefined),
  }
}

function describeKill({ signal, code, ms }: Ended, isCommitted: boolean): string {
  const end = signal === 'SIGKILL' ? 'killed' : `had ended with ${signal ?? String(code)}`
  return `${end} at ${ms.toFixed(0)} ms${isCommitted ? ', committed' : ''}`
}

/** What a trial found of a store. */
export interface Finding {
  readonly found: string
  readonly fault: string | undefined
  readonly which: 'before' | 'after' | undefined
}

/**
 * Looks at what a trial has left: the state before or the state after, whole; and the next import
 * succeeds and gives the state after. It is tried on a copy of what was left, so that nobody has
 * recovered anything before it.
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
    (await faultOfVerify(tried, state)) ??
    (await faultOfNext(tried, next))
  await stores.clear(next)
  return { found: `the state ${which ?? 'of neither'}`, fault, which }
}

function difference(state: StoreState, { before, after }: ImportCase): string {
  const parts = ['tables', 'log', 'served', 'schema', 'version'] as const
  const unlike = (other: StoreState) => parts.filter((part) => state[part] !== other[part])
  return `not before (${unlike(before).join(', ')}), not after (${unlike(after).join(', ')})`
}

/** What `dossier verify` finds wrong with a store; nothing can be, before all tables are made. */
export async function faultOfVerify(
  { db, after }: ImportCase,
  { schema }: StoreState,
): Promise<string | undefined> {
  if (schema !== after.schema) return undefined
  // In this process: starting another one would take longer than what it has to look at.
  const { faults } = await verifyStore(db)
  return faults.length === 0 ? undefined : `verify: ${faults.join('; ')}`
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
