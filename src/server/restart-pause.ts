// How long to wait before a worker that died is replaced.

/** A worker that has lived as long has not died of its start. */
const healthyLifeMs = 10_000
const pauseMsMin = 100
const pauseMsMax = 30_000

/**
 * The pause before the next start: none for a worker that had lived a while, and ever longer ones
 * where one after the other dies young, so that a fault does not become a load.
 *
 * @param previousMs is the last pause; 0 where there was none.
 */
export function restartPauseMs(livedMs: number, previousMs: number): number {
  if (livedMs >= healthyLifeMs) return 0
  return Math.min(pauseMsMax, Math.max(pauseMsMin, previousMs * 2))
}
