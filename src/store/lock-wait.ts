// Waiting for the write lock.

/** How a writer waits for the write lock: there is one writer at a time. */
export interface LockWait {
  /** Called once if the writer has to wait for another one. */
  readonly onWait: () => void
  /** Aborts the waiting, with its reason. */
  readonly signal?: AbortSignal
}
