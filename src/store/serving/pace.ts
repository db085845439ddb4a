// Long work in steps, between which the event loop goes on.
//
// All such work shares one lane: in each turn of the event loop, one of those that wait does a
// step, so that other requests wait no longer for many of them than for one.

/** Waits for a step of its own if the work has done one. */
export type Pace = () => Promise<void> | undefined

/** How long a step holds the event loop, in milliseconds: as long as some pages take. */
const stepMs = 0.3

/** Begins with a step. */
export function createPace(): Pace {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < stepMs) return undefined
    return takeTurn().then(() => {
      begun = performance.now()
    })
  }
}

const waiting: (() => void)[] = []

function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(giveTurn)
  })
}

function giveTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(giveTurn)
}
