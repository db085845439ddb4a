// Issues keys: they are random, shown once, and stored as a hash.

import { randomBytes } from 'node:crypto'
import type { HandOver, KeyRecord, NewKey } from '../store/keys.ts'
import type { LockWait } from '../store/work-watch.ts'
import type { StoreWriter } from '../store/writing.ts'
import { hashKey, keyHint, makeKey } from './key.ts'

type KeyPlan = Pick<KeyRecord, 'name' | 'scopes' | 'expiresAt'> &
  Partial<Pick<KeyRecord, 'rate'>> & { readonly now: number }

/** A new key in plain text, and what is stored of it. */
export interface IssuedKey {
  readonly plain: string
  readonly stored: Pick<NewKey, 'hint' | 'hash'>
}

/** Creates a key from 32 random bytes; nothing is stored. */
export function makeIssuedKey(): IssuedKey {
  const plain = makeKey(randomBytes(32))
  const stored = { hint: keyHint(plain), hash: Buffer.from(hashKey(plain), 'latin1') }
  return { plain, stored }
}

/**
 * Stores the hash of a key.
 *
 * @param handOver runs once it is stored; if it rejects, the key is removed again.
 * @throws OperatorError if a key with that name is in use.
 */
export async function storeIssuedKey(
  store: StoreWriter,
  { stored }: IssuedKey,
  { name, scopes, expiresAt, rate, now }: KeyPlan,
  wait: LockWait,
  handOver?: HandOver,
): Promise<void> {
  const key = { ...stored, name, scopes, expiresAt, rate, createdAt: now }
  await store.addKey(key, wait, handOver)
}

export async function issueKey(store: StoreWriter, plan: KeyPlan, wait: LockWait): Promise<string> {
  const issued = makeIssuedKey()
  await storeIssuedKey(store, issued, plan, wait)
  return issued.plain
}
