// Opens a store as a server does, for a test.

import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { patientBounds, storeAt } from './store-at.ts'

/** A reader that is closed when the test ends. */
export async function openReader(
  t: { after(work: () => Promise<void>): void },
  db: string,
): Promise<StoreReader> {
  const reader = await openStoreReader(storeAt(db), patientBounds)
  t.after(async () => reader.close())
  return reader
}

/** Reads a store, and closes it. */
export async function withReader<T>(
  db: string,
  work: (reader: StoreReader) => Promise<T>,
): Promise<T> {
  await using reader = await openStoreReader(storeAt(db), patientBounds)
  return await work(reader)
}
