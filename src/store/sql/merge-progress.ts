// The progress of a merge: its parts, and their shares of the time that one takes.

import type { OnStep } from '../work-watch.ts'

// As in a first load of records; the parts of other imports differ, but in the same order.
const shares = { placing: 0.13, comparing: 0.04, recording: 0.03, writing: 0.73, committing: 0.07 }

/** A part of a merge. */
export type MergePart = keyof typeof shares

/** Receives the share of a part's statements that have run. */
export type OnShare = (share: number) => void

/** Returns the listener of each part. */
export function watchParts(onStep: OnStep = () => undefined): (part: MergePart) => OnShare {
  const names = Object.keys(shares) as MergePart[]
  return (part) => {
    const earlier = names.slice(0, names.indexOf(part))
    const before = earlier.reduce((sum, name) => sum + shares[name], 0)
    return (share) => onStep(part, before + shares[part] * share)
  }
}
