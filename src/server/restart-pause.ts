// How long to wait before a worker that died is replaced.

/** A worker that lived this long did not die because of its start. */
const healthyLifeMs = 10_000
const pauseMsMin = 100
const pauseMsMax = 30_000

/**
 * The pause before the next start: none after a worker that lived for a while, and longer each time
 * if one after another dies young, so that a fault does not cause load.
 *
 * @param previousMs is the last pause; 0 if there was none.
 */
export function restartPauseMs(livedMs: number, previousMs: number): number {
  if (livedMs >= healthyLifeMs) return 0
  return Math.min(pauseMsMax, Math.max(pauseMsMin, previousMs * 2))
}
