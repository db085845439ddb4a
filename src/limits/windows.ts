// Counts of many clients, each in a window of time of its own, in a bounded amount of memory.

/** A client's window: how often it was counted, and when the window ends. */
interface Window {
  readonly count: number
  /** In milliseconds, on the caller's clock. */
  readonly endsAt: number
}

interface Windows<Id> {
  /** The window of a client that has not ended yet. */
  find(id: Id, now: number): Window | undefined
  /** Counts once for a client; its window begins now where it has none. */
  count(id: Id, lengthMs: number, now: number): Window
  /** How many windows are kept. */
  readonly size: number
}

/**
 * @param max how many windows are kept: 60 to 150 bytes each. Beyond it, some client's count begins
 *   anew; but windows that have ended go first, since each new one looks at two old ones.
 */
export function createWindows<Id>(max: number): Windows<Id> {
  const windows = new Map<Id, { count: number; endsAt: number }>()
  let hand = windows.entries()

  function makeRoom(now: number): void {
    for (let looks = 0; looks < 2; looks += 1) {
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
    find(id, now) {
      const window = windows.get(id)
      return window !== undefined && now < window.endsAt ? window : undefined
    },
    count(id, lengthMs, now) {
      const window = windows.get(id)
      if (window === undefined) {
        makeRoom(now)
        const begun = { count: 1, endsAt: now + lengthMs }
        windows.set(id, begun)
        return begun
      }
      if (now < window.endsAt) window.count += 1
      else {
        window.count = 1
        window.endsAt = now + lengthMs
      }
      return window
    },
    get size() {
      return windows.size
    },
  }
}
