// Counts for many clients, each in its own window of time, in a bounded amount of memory.

/** The window of a client. */
interface Window {
  count: number
  /** In milliseconds, on the caller's clock. */
  endsAt: number
}

/**
 * @param max is the maximum number of windows, of 60 to 150 bytes each. Each new window checks two
 *   old ones and removes them if they have ended; at the maximum it removes them in any case, so
 *   the counts of some clients restart.
 */
export function createWindows<Id>(max: number) {
  const windows = new Map<Id, Window>()
  let hand = windows.entries()

  function evict(now: number): void {
    for (let checks = 0; checks < 2; checks += 1) {
      let next = hand.next()
      if (next.done) {
        hand = windows.entries()
        next = hand.next()
        if (next.done) return
      }
      const [id, window] = next.value
      if (window.endsAt <= now || windows.size >= max) windows.delete(id)
    }
  }

  return {
    /** Returns the current window of a client; undefined if it has none or it has ended. */
    find(id: Id, now: number): Readonly<Window> | undefined {
      const window = windows.get(id)
      return window !== undefined && now < window.endsAt ? window : undefined
    },
    /** Counts once for a client, and starts a window now if it has no current one. */
    count(id: Id, lengthMs: number, now: number): Readonly<Window> {
      const window = windows.get(id)
      // Whole: what is left of a sum with a fraction may be more than the window has.
      const newEnd = Math.floor(now) + lengthMs
      if (window === undefined) {
        evict(now)
        const created = { count: 1, endsAt: newEnd }
        windows.set(id, created)
        return created
      }
      if (now < window.endsAt) window.count += 1
      else {
        window.count = 1
        window.endsAt = newEnd
      }
      return window
    },
    /** The number of windows in memory. */
    get size(): number {
      return windows.size
    },
  }
}
