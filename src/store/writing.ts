// What the commands that change a store ask of it, whichever database is behind it.

import type { Awaitable } from './awaitable.ts'
import type { ImportStore } from './importing.ts'
import type { KeyStore } from './keys.ts'
import type { LockWait } from './lock-wait.ts'

/** What a pruning forgot. */
export interface Pruned {
  /** The earliest version of which everything is still known. */
  readonly earliestVersion: number
  /** How many former states were forgotten, by what they were states of. */
  readonly forgotten: Readonly<Record<string, number>>
}

/** What the commands that change a store may do with it. */
export interface StoreWriter extends ImportStore, KeyStore {
  /** What `StoreReader` has as `storeId`. */
  readStoreId(): Awaitable<string>
  /** Forgets what stood only in versions that were replaced before `before`, in milliseconds. */
  prune(before: number, wait: LockWait): Promise<Pruned>
  close(): Awaitable<void>
}
