// How those who change a store wait for one another.

/** How a writer waits for its turn: there is one writer at a time. */
export interface LockWait {
  /** Called once if there is another writer to wait for. */
  readonly onWait: () => void
  /** Ends the waiting, with its reason; absent where nothing does. */
  readonly signal?: AbortSignal
}
