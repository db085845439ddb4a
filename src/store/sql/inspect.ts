// Queries for operators: the log of imports, and companies.

import type { ImportedFile } from '../importing.ts'
import type {
  CompanyAttributes,
  CompanyName,
  CompanyRecord,
  IdentifyingName,
  LoggedImport,
} from '../inspecting.ts'
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

/** A company with what each of its sources says about it. */
export async function findCompany(
  db: Database,
  name: CompanyName,
): Promise<CompanyRecord | undefined> {
  const { table, id: companyId } = db.dialect.companyNames
  const columns = 'select c.id, c.jurisdiction, c.identifier from'
  const [found] =
    typeof name === 'number'
      ? await db.rows(`${columns} companies c where c.id = $id`, { id: name })
      : await db.rows(
          `${columns} ${table} n join companies c on c.id = n.${companyId}
           where n.jurisdiction = $jurisdiction and n.identifier = $identifier`,
          { jurisdiction: name[0], identifier: name[1] },
        )
  if (found === undefined) return undefined
  const id = Number(found['id'])
  const attributes = await db.rows(
    `select s.name as source, a.is_present, a.as_of, a.version, a.attributes,
       seen.as_of as seen_as_of, seen.committed_at as seen_at
     from company_attributes a join sources s on s.id = a.source_id
     left join imports seen on seen.version = (${lastSeenVersion})
     where a.company_id = $id order by s.name`,
    { id },
  )
  return {
    id,
    jurisdiction: optionalText(found['jurisdiction']),
    identifier: optionalText(found['identifier']),
    attributes: attributes.map(companyAttributes),
  }
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
        where p.company_id = a.company_id and p.source_id = a.source_id
      )))`

function companyAttributes(row: Row): CompanyAttributes {
  return {
    source: String(row['source']),
    isPresent: Boolean(row['is_present']),
    asOf: optionalText(row['as_of']),
    version: Number(row['version']),
    lastSeen: optionalText(row['seen_as_of']) ?? dayOf(row['seen_at']),
    attributes: JSON.parse(String(row['attributes'])) as Record<string, unknown>,
  }
}

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
