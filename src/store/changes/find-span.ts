// Finds the two versions between which changes are reported, if both are of this history.

import type { ChangesRequest, HistoryPoint, NamedPoint, NoChanges } from '../changes.ts'
import type { RegistryState } from '../reading.ts'
import { readStoreId } from '../sql/database.ts'
import type { RowReader } from '../sql/dialect.ts'
import { markOfStore } from '../sql/import-log.ts'
import { changeSql } from '../sql/versions.ts'

/** Both ends of the span that is asked for. */
export async function findSpan(
  snapshot: RowReader,
  registry: RegistryState,
  { since, until = registry }: Pick<ChangesRequest, 'since' | 'until'>,
): Promise<{ readonly since: HistoryPoint; readonly until: HistoryPoint } | NoChanges> {
  const none = (reason: NoChanges['none'], version: number) => ({ none: reason, version, registry })
  const ends: HistoryPoint[] = []
  for (const named of [since, until]) {
    const { version, lineage } = named
    if (version > registry.version) {
      return none((await mayCome(snapshot, registry, named)) ? 'later' : 'elsewhere', version)
    }
    const own = await pointOf(snapshot, version)
    if (lineage !== undefined && lineage !== own.lineage) return none('elsewhere', version)
    ends.push(own)
  }
  const [begin, end] = ends as [HistoryPoint, HistoryPoint]
  if (end.version < begin.version) return none('backwards', end.version)
  const isPruned = end.version > 0 && end.version < registry.earliestVersion
  return isPruned ? none('pruned', end.version) : { since: begin, until: end }
}

/**
 * Whether a version above the last one may still come, to a standby that lags (contract 12.3). A
 * version of another store cannot, nor can one that was committed before the last version here, as
 * after a restored backup with new imports. A backup without any is treated like a standby.
 */
async function mayCome(
  snapshot: RowReader,
  registry: RegistryState,
  { lineage, committedAt = Infinity }: NamedPoint,
): Promise<boolean> {
  if (lineage === undefined) return true
  if (committedAt < (registry.committedAt ?? 0)) return false
  return lineage.startsWith(markOfStore(await readStoreId(snapshot)))
}

/** Always reads the log: what a reader caches may be of the history before a restore. */
async function pointOf(snapshot: RowReader, version: number): Promise<HistoryPoint> {
  if (version === 0) return { version, lineage: '', committedAt: undefined }
  const [row] = await snapshot.rows<[lineage: string, committedAt: number]>(changeSql, version)
  if (row === undefined) throw new Error(`version ${version} is not in the log of imports`)
  return { version, lineage: row[0], committedAt: row[1] }
}
