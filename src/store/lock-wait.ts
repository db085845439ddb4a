// Waiting for the write lock.

/** How a writer waits for the write lock: there is one writer at a time. */
export interface LockWait {
  /**
   * Called if the writer has to wait.
   *
   * @param reason for what, in a line, if not for another writer.
   */
  readonly onWait: (reason?: string) => void
  /** Aborts the waiting, with its reason. */
  readonly signal?: AbortSignal
}
