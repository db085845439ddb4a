// The segments in which two states of a listing differ: those that only one of the two names. Nodes
// that both have are not read, so that this costs what has changed, not what there is.

import {
  decodeDirectory,
  decodeNode,
  type Directory,
  type DirectoryEntry,
  type ReadNodes,
} from './directory.ts'

/** Segments that only one of two states has, each in the order of the listing. */
export interface DifferingLeaves {
  readonly former: readonly DirectoryEntry[]
  readonly present: readonly DirectoryEntry[]
}

/** @param former a head's directory, as `present`; undefined for a listing that was not there. */
export async function differingLeaves(
  former: string | undefined,
  present: string | undefined,
  readNodes: ReadNodes,
): Promise<DifferingLeaves> {
  let a = decodeOrEmpty(former)
  let b = decodeOrEmpty(present)
  for (;;) {
    if (a.level === b.level) {
      const entries = a.entries
      a = { level: a.level, entries: without(entries, b.entries) }
      b = { level: b.level, entries: without(b.entries, entries) }
      if (a.level === 0) return { former: a.entries, present: b.entries }
    }
    const level = Math.max(a.level, b.level)
    const [deepA, deepB] = [a.level === level, b.level === level]
    if (deepA) a = await descend(a, readNodes)
    if (deepB) b = await descend(b, readNodes)
  }
}

function decodeOrEmpty(directory: string | undefined): Directory {
  return directory === undefined ? { level: 0, entries: [] } : decodeDirectory(directory)
}

async function descend({ level, entries }: Directory, readNodes: ReadNodes): Promise<Directory> {
  if (entries.length === 0) return { level: level - 1, entries }
  const nodes = await readNodes(entries.map(({ segment }) => segment))
  return { level: level - 1, entries: nodes.flatMap((node) => decodeNode(node).entries) }
}

/** The entries that are not among others. */
export function without(
  entries: readonly DirectoryEntry[],
  others: readonly DirectoryEntry[],
): readonly DirectoryEntry[] {
  if (others.length === 0) return entries
  const known = new Set(others.map(({ segment }) => segment))
  return entries.filter(({ segment }) => !known.has(segment))
}
