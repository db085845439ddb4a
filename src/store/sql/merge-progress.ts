// The progress of a merge: its parts, and their shares of the time that one takes.

import type { OnStep } from '../work-watch.ts'

// As in a first load of records, and of companies, whose names are indexed; the parts of other
// imports differ, but in the same order.
const shares = {
  placing: 0.13,
  comparing: 0.04,
  recording: 0.03,
  writing: 0.73,
  'indexing names': 0,
  committing: 0.07,
}
const sharesWithNames: Shares = {
  placing: 0.42,
  comparing: 0.04,
  recording: 0.01,
  writing: 0.19,
  'indexing names': 0.29,
  committing: 0.05,
}

type Shares = Readonly<Record<MergePart, number>>

/** A part of a merge. */
export type MergePart = keyof typeof shares

/** Receives the share of a part's statements that have run. */
export type OnShare = (share: number) => void

/**
 * Returns the listener of each part.
 *
 * @param hasNames whether the names of companies depend on what is loaded.
 */
export function watchParts(
  hasNames: boolean,
  onStep: OnStep = () => undefined,
): (part: MergePart) => OnShare {
  const names = Object.keys(shares) as MergePart[]
  const shareOf: Shares = hasNames ? sharesWithNames : shares
  return (part) => {
    const earlier = names.slice(0, names.indexOf(part))
    const before = earlier.reduce((sum, name) => sum + shareOf[name], 0)
    return (share) => onStep(part, before + shareOf[part] * share)
  }
}
