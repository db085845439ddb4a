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
  { since: asked, until: askedEnd = registry }: Pick<ChangesRequest, 'since' | 'until'>,
): Promise<{ readonly since: HistoryPoint; readonly until: HistoryPoint } | NoChanges> {
  const since = await findPoint(snapshot, registry, asked)
  if ('none' in since) return since
  const until = await findPoint(snapshot, registry, askedEnd)
  if ('none' in until) return until
  const { version } = until
  if (version < since.version) return { none: 'backwards', version, registry }
  const isPruned = version > 0 && version < registry.earliestVersion
  return isPruned ? { none: 'pruned', version, registry } : { since, until }
}

/** A version as this history has it; or that it has no such version, or not yet. */
async function findPoint(
  snapshot: RowReader,
  registry: RegistryState,
  named: NamedPoint,
): Promise<HistoryPoint | NoChanges> {
  const { version, lineage } = named
  if (version > registry.version) {
    const none = (await mayCome(snapshot, registry, named)) ? 'later' : 'elsewhere'
    return { none, version, registry }
  }
  const own = await pointOf(snapshot, version)
  const isOwn = lineage === undefined || lineage === own.lineage
  return isOwn ? own : { none: 'elsewhere', version, registry }
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
