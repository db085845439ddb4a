// Changes of a store as the commands make them, in this process.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { importTargets } from '../../src/import/import-targets.ts'
import { removeSource } from '../../src/import/remove-source.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreWriter, type StorePlace } from '../../src/store/open-store.ts'
import type { OrderKind } from '../../src/store/withholding/list/entries.ts'
import type { AskedSubject } from '../../src/store/withholding/asked-subject.ts'
import type { Touched } from '../../src/store/withholding/touched.ts'
import type { Withheld } from '../../src/store/withholding/withhold.ts'
import type { Pruned, RevertRange, RevertReport, StoreWriter } from '../../src/store/writing.ts'
import { storeAt } from './store-at.ts'

const alone = { onWait: () => assert.fail('nobody else writes') }
const asked = { reason: 'a test', by: 'a tester', day: '2026-11-23', onWait: () => undefined }

/** Opens the store that a path stands for, or one with a list of its own; closes it afterwards. */
async function withWriter<T>(
  db: string | StorePlace,
  work: (store: StoreWriter) => Promise<T>,
): Promise<T> {
  const place = typeof db === 'string' ? storeAt(db) : db
  await using store = await openStoreWriter(place, resources)
  return await work(store)
}

/** An import that has read no rows yet; it is ended when the test ends. */
export async function beginImport(t: TestContext, db: string, name: string) {
  const store = await openStoreWriter(storeAt(db), resources)
  const session = await store.beginImport({
    target: { name, resource: resources.find((one) => one.name === name) },
    source: 'default',
    nameAttribute: undefined,
    isSnapshot: false,
    unit: 'row',
    knownCompaniesOnly: false,
    asOf: undefined,
    recording: undefined,
    startedAt: Date.now(),
    onWait: () => undefined,
  })
  t.after(async () => {
    await session.discard()
    await store.close()
  })
  return session
}

/** Takes versions back. */
export function revert(db: string, range: RevertRange, isDryRun = false): Promise<RevertReport> {
  return withWriter(db, (store) =>
    store.revert({ range, isDryRun, startedAt: Date.now(), ...alone }),
  )
}

/** Removes what a source has of a target. */
export async function remove(db: string, name: string, source = 'default'): Promise<void> {
  const target = importTargets(resources).find((one) => one.name === name)
  assert.ok(target)
  const request = { target, source, startedAt: Date.now(), ...alone }
  await withWriter(db, (store) => removeSource(store, request))
}

/** The range of one version. */
export const one = (version: number): RevertRange => ({ version, isWithLater: false })

/** Forgets what was replaced before a moment; by default, all that was. */
export function prune(db: string, before = Date.now() + 1): Promise<Pruned> {
  return withWriter(db, (store) => store.prune(before, alone))
}

export function withhold(
  db: string | StorePlace,
  kind: OrderKind,
  subject: AskedSubject,
  isDryRun = false,
): Promise<Withheld & { readonly touched: readonly Touched[] }> {
  return withWriter(db, async (store) => {
    const request = { ...asked, kind, subject, isDryRun, startedAt: Date.now() }
    const withheld = await store.withhold(request)
    return { ...withheld, touched: [...withheld.touched.values()] }
  })
}

export async function lift(db: string, lifts: number): Promise<void> {
  await withWriter(db, (store) => store.lift({ ...asked, lifts, startedAt: Date.now() }))
}
