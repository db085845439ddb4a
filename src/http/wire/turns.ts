// Turns of the event loop, so that long work does not hold up short requests.

/** Lets one caller continue per turn of the event loop, so that other requests run in between. */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
}
