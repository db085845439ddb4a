// Finds the two versions between which changes are reported, if both are of this history.

import type { ChangesRequest, HistoryPoint, NoChanges } from '../changes.ts'
import type { RegistryState } from '../reading.ts'
import type { Snapshot } from '../sql/database.ts'
import { markOfStore } from '../sql/import-log.ts'

/** Both ends of what is asked for. */
export async function findSpan(
  snapshot: Pick<Snapshot, 'rows'>,
  registry: RegistryState,
  { since, until = registry }: Pick<ChangesRequest, 'since' | 'until'>,
): Promise<{ readonly since: HistoryPoint; readonly until: HistoryPoint } | NoChanges> {
  const none = (reason: NoChanges['none'], version: number) => ({ none: reason, version, registry })
  const ends: HistoryPoint[] = []
  for (const { version, lineage } of [since, until]) {
    if (version > registry.version) {
      const isOwn = lineage === undefined || (await isOfStore(snapshot, lineage))
      return none(isOwn ? 'later' : 'elsewhere', version)
    }
    const own = version === 0 ? '' : await lineageOf(snapshot, version)
    if (lineage !== undefined && lineage !== own) return none('elsewhere', version)
    ends.push({ version, lineage: own })
  }
  const [begin, end] = ends as [HistoryPoint, HistoryPoint]
  if (end.version < begin.version) return none('backwards', end.version)
  const isPruned = end.version > 0 && end.version < registry.earliestVersion
  return isPruned ? none('pruned', end.version) : { since: begin, until: end }
}

/** Whether a version that is not there may come: one of another store cannot (contract 12.3). */
async function isOfStore(snapshot: Pick<Snapshot, 'rows'>, lineage: string): Promise<boolean> {
  const [row] = await snapshot.rows<[id: string]>('select id from store')
  return row !== undefined && lineage.startsWith(markOfStore(row[0]))
}

/** Read anew each time: what a reader keeps may be of the history before a restored backup. */
async function lineageOf(snapshot: Pick<Snapshot, 'rows'>, version: number): Promise<string> {
  const sql = 'select lineage from imports where version = $1'
  const [row] = await snapshot.rows<[lineage: string]>(sql, version)
  if (row === undefined) throw new Error(`version ${version} is not in the log of imports`)
  return row[0]
}
