// Issues keys: they are random, shown once, and stored as a hash.

import { randomBytes } from 'node:crypto'
import type { NewKey } from '../store/keys.ts'
import type { LockWait } from '../store/work-watch.ts'
import type { StoreWriter } from '../store/writing.ts'
import { hashKey, keyHint, makeKey } from './key.ts'

export type IssuedKey = ReturnType<typeof makeIssuedKey>

/** Creates a key from 32 random bytes: its plain text, and what is stored of it. */
export function makeIssuedKey() {
  const plain = makeKey(randomBytes(32))
  const stored = { hint: keyHint(plain), hash: Buffer.from(hashKey(plain), 'latin1') }
  return { plain, stored }
}

/** Creates a key, and stores its hash. @throws OperatorError if a key with that name is in use. */
export async function issueKey(
  store: StoreWriter,
  plan: Omit<NewKey, 'hint' | 'hash'>,
  wait: LockWait,
): Promise<string> {
  const { plain, stored } = makeIssuedKey()
  await store.addKey({ ...stored, ...plan }, wait)
  return plain
}
