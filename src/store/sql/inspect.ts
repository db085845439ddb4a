// Queries for operators: the log of imports, and companies.

import type { ImportedFile } from '../importing.ts'
import type { IdentifyingName, LoggedImport } from '../inspecting.ts'
import {
  type Database,
  optionalNumber,
  optionalText,
  type Queries,
  type Row,
  type Value,
} from './database.ts'

/** The last `limit` imports, newest first. */
export async function listImports(db: Database, limit: number): Promise<LoggedImport[]> {
  const rows = await db.rows(
    `select i.*, s.name as source from imports i join sources s on s.id = i.source_id
     order by version desc limit $limit`,
    { limit },
  )
  return rows.map(loggedImport)
}

function loggedImport(row: Row): LoggedImport {
  const number = (name: string) => Number(row[name])
  return {
    version: number('version'),
    target: String(row['resource']),
    source: String(row['source']),
    isSnapshot: Boolean(row['is_snapshot']),
    asOf: optionalText(row['as_of']),
    startedAt: number('started_at'),
    committedAt: number('committed_at'),
    files: JSON.parse(String(row['files'])) as ImportedFile[],
    counts: {
      read: number('read'),
      inserted: number('inserted'),
      updated: number('updated'),
      unchanged: number('unchanged'),
      refused: number('refused'),
      removed: number('removed'),
      companiesCreated: number('companies_created'),
    },
    recorded: JSON.parse(String(row['recorded'])) as Record<string, number>,
    reverts: row['reverts'] === null ? undefined : (JSON.parse(String(row['reverts'])) as number[]),
    revertedBy: optionalNumber(row['reverted_by']),
  }
}

/**
 * For each source that has said something about a company, the day of the last import that is known
 * to have had it, in wire form: a snapshot, or the one that changed it. An import without a day
 * counts by its commit.
 */
export async function readLastSeen(
  db: Database,
  companyId: number,
): Promise<ReadonlyMap<string, string | undefined>> {
  const rows = await db.rows(
    `select s.name as source, seen.as_of, seen.committed_at
     from company_attributes a join sources s on s.id = a.source_id
     left join imports seen on seen.version = (${lastSeenVersion})
     where a.company_id = $companyId`,
    { companyId },
  )
  return new Map(
    rows.map((row) => [
      String(row['source']),
      optionalText(row['as_of']) ?? dayOf(row['committed_at']),
    ]),
  )
}

/**
 * The last import in force of which it is known that it had the company: the last snapshot, or the
 * import of the current state if that is later; if the company is absent, one before that. Imports
 * that changed nothing leave no trace, unless they are snapshots.
 */
const lastSeenVersion = `
  select max(i.version) from imports i
  where i.resource = 'companies' and i.source_id = a.source_id
    and i.reverts is null and i.reverted_by is null
    and (a.is_present and (i.is_snapshot or i.version = a.version)
      or not a.is_present and i.version < a.version and (i.is_snapshot or i.version = (
        select max(p.version) from company_attributes_past p
        where p.company_id = $companyId and p.source_id = a.source_id
      )))`

/** The day of a moment in milliseconds since 1970, in wire form. */
function dayOf(moment: Value | undefined): string | undefined {
  if (moment === null || moment === undefined) return undefined
  return `${new Date(Number(moment)).toISOString().slice(0, 10)}T00:00:00Z`
}

/** Those of the names that belong to a company, in the order given; at most `limit`; one query. */
export async function findNames(
  db: Queries,
  names: readonly IdentifyingName[],
  limit: number,
): Promise<IdentifyingName[]> {
  // A name may be cut within a character; it matches no company, but must still be valid JSON.
  const asked = JSON.stringify(names.map((name) => name.map((part) => part.toWellFormed())))
  const rows = await db.rows(
    `select c.jurisdiction, c.identifier
     from ${db.dialect.jsonElements('$asked', 'e')}
     join ${db.dialect.companyNames.table} c
       on c.jurisdiction = e.value ->> 0 and c.identifier = e.value ->> 1
     order by e.key limit $limit`,
    { asked, limit },
  )
  return rows.map((row) => [String(row['jurisdiction']), String(row['identifier'])])
}
