// Watching work that may take minutes: waiting for other work, and the progress of a merge through
// its parts, by their shares of its time.

/** The waiting and the progress of work that changes a store. */
export interface WorkWatch extends LockWait {
  /** Receives the step that begins, and the share of the work that is done, from 0 to 1. */
  readonly onStep?: ((step: string, done: number) => void) | undefined
}

// The shares in a first load of records, and in one of companies, whose names are indexed. Other
// imports differ in the shares, but not in the order.
const shares = {
  placing: [0.13, 0.42],
  comparing: [0.04, 0.04],
  recording: [0.03, 0.01],
  writing: [0.73, 0.19],
  'indexing names': [0, 0.29],
  committing: [0.07, 0.05],
} as const

/** A part of a merge. */
export type MergePart = keyof typeof shares

/** Receives the share of a part's statements that have run. */
export type OnShare = (share: number) => void

/**
 * Returns the listener of each part, which ends the work if that is aborted.
 *
 * @param hasNames whether the names of companies depend on what is loaded.
 */
export function watchParts(
  hasNames: boolean,
  { onStep, signal }: Pick<WorkWatch, 'onStep' | 'signal'>,
): (part: MergePart) => OnShare {
  const names = Object.keys(shares) as MergePart[]
  const shareOf = (part: MergePart) => shares[part][hasNames ? 1 : 0]
  return (part) => {
    const earlier = names.slice(0, names.indexOf(part))
    const before = earlier.reduce((sum, name) => sum + shareOf(name), 0)
    return (share) => {
      signal?.throwIfAborted()
      onStep?.(part, before + shareOf(part) * share)
    }
  }
}

/** How a writer waits for the write lock: there is one writer at a time. */
export interface LockWait {
  /**
   * Called if the writer has to wait.
   *
   * @param reason what it waits for, in one line, if not for another writer.
   */
  readonly onWait: (reason?: string) => void
  /** Aborts the waiting, with its reason. */
  readonly signal?: AbortSignal
}
