// Keeps one kind of statement from using the whole pool: while a table is locked, statements that
// read it would hold every connection, and those on other tables would wait for one.

import { Busy } from '../busy.ts'

/** Limits how many statements of one kind run at a time. */
export interface Gate {
  /**
   * Runs a statement when a place is free.
   *
   * @throws Error if no place is free in time, or the table is locked; else as `work`.
   */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** The limits of a gate; times in milliseconds. */
interface GateBounds {
  /** The maximum number of statements that run at a time. */
  readonly most: number
  /** How long a statement waits for a place. */
  readonly waitMs: number
  /** The pause after a lock timeout, after which one statement tries the lock again. */
  readonly restMs: number
}

/** @param what the table that is read, for messages. */
export function createGate(what: string, { most, waitMs, restMs }: GateBounds): Gate {
  const queue = createQueue(waitMs, `${what}: too many statements are reading the table`)
  let running = 0
  /** When a statement may try the lock again; undefined while no lock is known of. */
  let tryAgainAt: number | undefined
  const locked = () => new Error(`${what}: the table is locked by another session`)

  function enter(): Promise<void> | undefined {
    if (tryAgainAt !== undefined) {
      if (running > 0 || performance.now() < tryAgainAt) throw locked()
    } else if (running >= most) {
      // A statement that ends hands its place over, so that `running` is unchanged.
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
        if (!queue.admitNext()) running -= 1
      }
    },
  }
}

/** Statements that wait for a place, first come, first served; each waits at most `waitMs`. */
function createQueue(waitMs: number, tooLong: string) {
  const waiting = new Set<{ enter: () => void; refuse: (error: Error) => void }>()
  return {
    /** Resolves when a place is free; rejects if refused, or after waiting too long. */
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
        const timer = setTimeout(() => entry.refuse(new Busy(tooLong)), waitMs)
        waiting.add(entry)
      })
    },
    /** Admits the first one; false if none waits. */
    admitNext(): boolean {
      const [first] = waiting
      first?.enter()
      return first !== undefined
    },
    refuseAll(error: Error): void {
      for (const { refuse } of [...waiting]) refuse(error)
    },
  }
}

/** lock_not_available: lock_timeout has expired. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}
