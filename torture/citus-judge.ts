// Judges what a command on Citus has left, by all pages that are served.

import type { Change } from './course.ts'
import { readWhole } from './citus-readers.ts'
import type { CitusStore } from './citus-store.ts'
import { faultOfVerify, firstFault } from './outcome.ts'
import { describeEnd, type Ended, runHere, type Running } from './processes.ts'

/** The state that a command has left. */
export interface Finding {
  readonly which: 'before' | 'after' | 'neither'
  readonly fault: string | undefined
}

/** Looks at all pages, of now and of the version before, and has `verify` look at the store. */
export async function examine(store: CitusStore, change: Change): Promise<Finding> {
  const { course } = store
  const now = await readWhole(store)
  const [version] = now.versions
  const isOne = now.versions.size === 1
  const past = course.version() - 1
  const then = await readWhole(store, past)
  const isPruned = then.isGone
  const wasPruned = past < course.earliest()
  const isAfter = change.kind === 'prune' ? isPruned : version === change.version
  const isBefore = version === course.version() && isPruned === wasPruned
  const which = !isOne ? 'neither' : isAfter ? 'after' : isBefore ? 'before' : 'neither'
  return {
    which,
    fault: firstFault(
      now.fault,
      then.fault,
      which === 'neither' ? `versions ${[...now.versions].join(', ')}` : undefined,
      await faultOfVerify(store.db),
    ),
  }
}

/** Runs a command undisturbed, and looks at what it leaves. */
export async function repeat(store: CitusStore, change: Change): Promise<string | undefined> {
  const again = await runHere(change.args(store.db))
  if (again.code !== 0) return `the next ${change.kind} ${describeEnd(again)}`
  const { which, fault } = await examine(store, change)
  store.course.done(change)
  if (fault !== undefined) return `after the next ${change.kind}: ${fault}`
  return which === 'after' ? undefined : `the next ${change.kind} gives another state`
}

const endedMs = 90_000

/** Waits for the end of a command; kills one that seems to wait for ever. */
export async function untilEnded({ child, ended }: Running): Promise<Ended> {
  const timer = setTimeout(() => child.kill('SIGKILL'), endedMs)
  const end = await ended
  clearTimeout(timer)
  return end
}
