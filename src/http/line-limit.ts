// Limits how many log lines per second clients without a key can cause, and counts the rest.

/** Decides which lines are logged, and counts those that are not. */
interface LineLimit {
  /** Whether a line may be logged now; if not, it is counted as omitted. */
  allows(): boolean
  /** The number of lines omitted since the last call. */
  takeOmitted(): number
}

/**
 * @param linesMax is the maximum number of lines per second.
 * @param onOmitted is called for each omitted line.
 * @param clock returns milliseconds and never goes backwards.
 */
export function createLineLimit(
  linesMax: number,
  onOmitted: () => void = () => undefined,
  clock = () => performance.now(),
): LineLimit {
  let secondEndsAt = 0
  let lines = 0
  let omitted = 0
  return {
    allows() {
      const now = clock()
      if (now >= secondEndsAt) {
        secondEndsAt = now + 1_000
        lines = 0
      }
      lines += 1
      if (lines <= linesMax) return true
      omitted += 1
      onOmitted()
      return false
    },
    takeOmitted() {
      const taken = omitted
      omitted = 0
      return taken
    },
  }
}
