// Connections to a registry: its listings and companies by their keys, all else by SQL.

import type { Awaitable } from './awaitable.ts'
import type { ListingTables } from './listing/tables.ts'
import type { LockWait } from './lock-wait.ts'
import type { Database } from './sql/database.ts'

export interface RegistryDatabase extends Database {
  readonly tables: ListingTables
}

/** A connection that changes the registry, in one transaction. */
export interface ImportConnection extends RegistryDatabase {
  /** Begins the transaction, as soon as no other process holds the write lock. */
  begin(wait: LockWait): Promise<void>
  /** Commits it. If this throws, nothing was changed, except for UnknownOutcomeError. */
  commit(): Awaitable<void>
  /** Cleans up after the commit; a failure here does not affect the work. */
  settle(): Awaitable<void>
  /** Ends the work; nothing is changed. */
  discard(): Awaitable<void>
}
