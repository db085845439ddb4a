// Keeps one kind of statement from taking the whole pool: where a table is locked, the statements
// that read it would otherwise hold every connection, and those of other tables would wait for one.

/** Lets statements of one kind through. */
export interface Gate {
  /**
   * Runs a statement when there is room.
   *
   * @throws Error where there is none in time, or none because of a lock; else as `work`.
   */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** What a gate holds to; times in milliseconds. */
interface GateBounds {
  /** Statements that run at a time. */
  readonly most: number
  /** How long a statement waits for room. */
  readonly waitMs: number
  /** After a lock was not granted: how long nothing is tried; then one statement is. */
  readonly restMs: number
}

/** @param what is the table that is read, for messages. */
export function createGate(what: string, { most, waitMs, restMs }: GateBounds): Gate {
  const queue = createQueue(waitMs, `${what}: too many statements are reading the table`)
  let running = 0
  /** When a statement may try the lock again; undefined while nothing is known to be locked. */
  let tryAgainAt: number | undefined
  const locked = () => new Error(`${what}: the table is locked by another session`)

  function enter(): Promise<void> | undefined {
    if (tryAgainAt !== undefined) {
      if (running > 0 || performance.now() < tryAgainAt) throw locked()
    } else if (running >= most) {
      // Whoever leaves hands its room over, so that `running` stays as it is.
      return queue.wait()
    }
    running += 1
    return undefined
  }

  return {
    async run(work) {
      await enter()
      try {
        const result = await work()
        tryAgainAt = undefined
        return result
      } catch (error) {
        if (isLockTimeout(error)) {
          tryAgainAt = performance.now() + restMs
          queue.refuseAll(locked())
        }
        throw error
      } finally {
        if (!queue.callNext()) running -= 1
      }
    },
  }
}

/** Those who wait for room, the first one first; nobody for longer than `waitMs`. */
function createQueue(waitMs: number, tooLong: string) {
  const waiting = new Set<{ enter: () => void; refuse: (error: Error) => void }>()
  return {
    /** Resolves when the caller is called; rejects where it is refused, or it takes too long. */
    wait(): Promise<void> {
      return new Promise((resolve, reject) => {
        const leave = () => {
          clearTimeout(timer)
          waiting.delete(entry)
        }
        const entry = {
          enter() {
            leave()
            resolve()
          },
          refuse(error: Error) {
            leave()
            reject(error)
          },
        }
        const timer = setTimeout(() => entry.refuse(new Error(tooLong)), waitMs)
        waiting.add(entry)
      })
    },
    /** Calls the first one; false where nobody waits. */
    callNext(): boolean {
      const [first] = waiting
      first?.enter()
      return first !== undefined
    },
    refuseAll(error: Error): void {
      for (const { refuse } of [...waiting]) refuse(error)
    },
  }
}

/** lock_not_available: lock_timeout has run out. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}
