// Finds the version in which each of some records last changed, by going back from head to head.

import { compareHeads } from '../listing/open-listings.ts'
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
  const { version, isOnly, traces } = states
  if (isOnly && traces.size === 0) return changes.map((change) => ({ ...change, version }))
  const versions = isOnly ? new Map<number, number>() : await goBack(comparing, states, changes)
  const usual = isOnly ? version : 0
  const versionOf = (id: number) =>
    Math.max(versions.get(id) ?? usual, traces.get(id)?.version ?? 0)
  return changes.flatMap((change) => [
    ...cutByVersion(change, (n) => versionOf(change.ids[n] ?? 0)),
  ])
}

/** The versions whose heads last changed records, by ids. */
async function goBack(
  { tables, source, span }: Comparing,
  { companyId, former }: ListingStates,
  changes: readonly RecordChange[],
): Promise<ReadonlyMap<number, number>> {
  const left = new Set(changes.flatMap(({ ids }) => [...ids]))
  const versions = new Map<number, number>()
  const all = await tables.headsOf(source.shape.listing, [companyId], span)
  for (let n = all.length - 1; n >= 0 && left.size > 0; n -= 1) {
    const [head, before = former] = [all[n], all[n - 1]] as [HeadRow, HeadRow | undefined]
    const leaves = await compareHeads(tables, companyId, before, head)
    const was = await collectIds(source, { companyId, leaves: leaves.former }, left)
    const is = await collectIds(source, { companyId, leaves: leaves.present }, left)
    for (const id of [...was.keys(), ...is.keys()]) {
      if (was.get(id) === is.get(id)) continue
      versions.set(id, head.version)
      left.delete(id)
    }
  }
  return versions
}
