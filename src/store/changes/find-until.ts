// Between which versions changes are told, if both are of this history.

import type { ChangesRequest, HistoryPoint, NoChanges } from '../changes.ts'
import type { RegistryState } from '../reading.ts'
import type { Snapshot } from '../sql/snapshot.ts'

/** The end of the span that is asked for. */
export async function findUntil(
  snapshot: Pick<Snapshot, 'change'>,
  registry: RegistryState,
  { since, until = registry }: Pick<ChangesRequest, 'since' | 'until'>,
): Promise<HistoryPoint | NoChanges> {
  const none = (reason: NoChanges['none'], version: number) => ({ none: reason, version, registry })
  const lineages: string[] = []
  for (const { version, lineage } of [since, until]) {
    if (version > registry.version) return none('later', version)
    const own = version === 0 ? '' : (await snapshot.change(version)).lineage
    if (lineage !== undefined && lineage !== own) return none('elsewhere', version)
    lineages.push(own)
  }
  const { version } = until
  if (version < since.version) return none('backwards', version)
  const isPruned = version < registry.earliestVersion && registry.version > 0 && version > 0
  return isPruned ? none('pruned', version) : { version, lineage: lineages[1] ?? '' }
}
