// Withholding in tests.

import { resources } from '../../src/resources/index.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
import type { OrderKind } from '../../src/store/withholding/list.ts'
import type { AskedSubject, Withheld } from '../../src/store/withholding/withhold.ts'
import { storeAt } from './store-at.ts'

const asked = { reason: 'a test', by: 'a tester', day: '2026-11-23', onWait: () => undefined }

/** Withholds something in the store that a path stands for. */
export async function withhold(
  db: string,
  kind: OrderKind,
  subject: AskedSubject,
  isDryRun = false,
): Promise<Withheld> {
  const store = await openStoreWriter(storeAt(db), resources)
  try {
    return await store.withhold({ ...asked, kind, subject, isDryRun, startedAt: Date.now() })
  } finally {
    await store.close()
  }
}

export async function lift(db: string, lifts: number): Promise<void> {
  const store = await openStoreWriter(storeAt(db), resources)
  try {
    await store.lift({ ...asked, lifts, startedAt: Date.now() })
  } finally {
    await store.close()
  }
}
