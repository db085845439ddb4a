// Finds the version in which each of some records last changed, by going back from head to head.

import { differingLeaves } from '../listing/directory.ts'
import type { HeadRow } from '../listing/tables.ts'
import { collectIds } from './index-source.ts'
import { cutByVersion, type RecordChange } from './cut-change.ts'
import type { Comparing, ListingStates } from './listing-states.ts'

/** A listing's changes with their versions, in their order. */
export async function withVersions(
  comparing: Comparing,
  states: ListingStates,
  changes: readonly RecordChange[],
): Promise<readonly (RecordChange & { readonly version: number })[]> {
  const { place, traces } = states
  if (place.isOnly && traces.size === 0) {
    return changes.map((change) => ({ ...change, version: place.version }))
  }
  const found = new Map<number, number>()
  if (!place.isOnly) {
    await goBack(comparing, states, new Set(changes.flatMap(({ ids }) => [...ids])), found)
  }
  const usual = place.isOnly ? place.version : 0
  const versionOf = (id: number) => Math.max(found.get(id) ?? usual, traces.get(id)?.version ?? 0)
  return changes.flatMap((change) => [
    ...cutByVersion(change, (n) => versionOf(change.ids[n] ?? 0)),
  ])
}

async function goBack(
  { tables, source, span }: Comparing,
  { place: { companyId }, former }: ListingStates,
  left: Set<number>,
  found: Map<number, number>,
): Promise<void> {
  const readNodes = (nodes: readonly number[]) => tables.entries(companyId, nodes)
  const all = await tables.headsOf(source.shape.listing, [companyId], span)
  for (let n = all.length - 1; n >= 0 && left.size > 0; n -= 1) {
    const [head, before = former] = [all[n], all[n - 1]] as [HeadRow, HeadRow | undefined]
    const leaves = await differingLeaves(before?.directory, head.directory, readNodes)
    const was = await collectIds(source, { companyId, leaves: leaves.former }, left)
    const is = await collectIds(source, { companyId, leaves: leaves.present }, left)
    for (const id of [...was.keys(), ...is.keys()]) {
      if (was.get(id) === is.get(id)) continue
      found.set(id, head.version)
      left.delete(id)
    }
  }
}
