// Long work in steps, between which the event loop does other things.
//
// All such work shares one queue: each turn of the event loop does one step of it, so that other
// requests wait no longer for many scans than for one.

/** Waits for the next step if the current one has used up its time. */
export type Pace = () => Promise<void> | undefined

/** How long a step holds the event loop, in milliseconds: about as long as a page or two do. */
const stepMs = 0.1

/** Creates a pace, which begins with a step. */
export function createPace(): Pace {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < stepMs) return undefined
    return takeTurn().then(() => {
      begun = performance.now()
    })
  }
}

/** How many records are handled between two looks at the clock. */
export const blockLength = 1_024

/** Works on the numbers below `length`, a block at a time. */
export async function inBlocks(
  length: number,
  pace: Pace,
  work: (start: number, end: number) => void,
): Promise<void> {
  for (let start = 0; start < length; start += blockLength) {
    work(start, Math.min(length, start + blockLength))
    const turn = pace()
    if (turn !== undefined) await turn
  }
}

const waiting: (() => void)[] = []

function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(giveTurn)
  })
}

let beforeStep = () => {}

/** Sets what is done before each step, since it would otherwise wait until the step ends. */
export function setBeforeStep(work: () => void): void {
  beforeStep = work
}

function giveTurn(): void {
  beforeStep()
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(giveTurn)
}
