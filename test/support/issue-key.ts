// Keys for tests and measurements, by the store alone.

import { makeIssuedKey } from '../../src/auth/key.ts'
import type { NewKey } from '../../src/store/keys.ts'
import type { LockWait } from '../../src/store/work-watch.ts'
import type { StoreWriter } from '../../src/store/writing.ts'

/** Creates a key, and stores its hash. */
export async function issueKey(
  store: StoreWriter,
  plan: Omit<NewKey, 'hint' | 'hash'>,
  wait: LockWait,
): Promise<string> {
  const { plain, stored } = makeIssuedKey()
  await store.addKey({ ...stored, ...plan }, wait)
  return plain
}
