// Limits how many log lines a second clients without a key can cause, and counts the rest.

/** Lines that are allowed, and those that were passed over. */
export interface LineLimit {
  /** Whether a line may be logged now; one that may not is counted. */
  allows(): boolean
  /** How many were passed over since this was last asked. */
  takePassedOver(): number
}

/**
 * @param linesMax is how many lines of a second are logged.
 * @param onPassedOver is called for each line that is not.
 * @param clock gives milliseconds that are never set back.
 */
export function createLineLimit(
  linesMax: number,
  onPassedOver: () => void = () => undefined,
  clock = () => performance.now(),
): LineLimit {
  let secondEndsAt = 0
  let lines = 0
  let passedOver = 0
  return {
    allows() {
      const now = clock()
      if (now >= secondEndsAt) {
        secondEndsAt = now + 1_000
        lines = 0
      }
      lines += 1
      if (lines <= linesMax) return true
      passedOver += 1
      onPassedOver()
      return false
    },
    takePassedOver() {
      const taken = passedOver
      passedOver = 0
      return taken
    },
  }
}
