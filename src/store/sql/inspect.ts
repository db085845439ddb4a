// Queries for operators: the log of imports, and companies.

import type { ImportedFile } from '../../files/source-file.ts'
import type { LoggedDifference } from '../importing.ts'
import type { IdentifyingName, LoggedImport, ShownImport, SourceRecipe } from '../inspecting.ts'
import { readEarlier } from './import-log.ts'
import { type Database, optionalNumber, optionalText, type Queries, type Row } from './database.ts'

/** What a list of imports shows; recipes may be long. */
const loggedColumns = `i.version, i.resource, i.is_snapshot, i.as_of, i.started_at, i.committed_at,
  i.files, i.read, i.inserted, i.updated, i.unchanged, i.refused, i.removed, i.companies_created,
  i.recorded, i.reverts, i.reverted_by`

/** The last `limit` imports, newest first. */
export async function listImports(db: Database, limit: number): Promise<LoggedImport[]> {
  const rows = await db.rows(
    `select ${loggedColumns}, s.name as source from imports i join sources s on s.id = i.source_id
     order by version desc limit $limit`,
    { limit },
  )
  return rows.map(loggedImport)
}

/** One import, with what it has changed. */
export async function readImport(db: Queries, version: number): Promise<ShownImport | undefined> {
  const [row] = await db.rows(
    `select ${loggedColumns}, i.difference, s.name as source
     from imports i join sources s on s.id = i.source_id where version = $version`,
    { version },
  )
  if (row === undefined) return undefined
  const text = optionalText(row['difference'])
  const difference = text === undefined ? undefined : (JSON.parse(text) as LoggedDifference)
  return { ...loggedImport(row), difference }
}

/** How each target was last imported from a source, by those of its imports that are in force. */
export async function readRecipes(db: Queries, source: string): Promise<SourceRecipe[]> {
  const found = await db.rows(
    `select i.source_id, i.resource from imports i join sources s on s.id = i.source_id
     where s.name = $source
     group by i.source_id, i.resource order by i.resource`,
    { source },
  )
  const recipes: SourceRecipe[] = []
  for (const row of found) {
    const target = String(row['resource'])
    const { imports, recipe } = await readEarlier(db, { source: Number(row['source_id']), target })
    const last = imports.at(-1)
    if (last !== undefined && recipe !== undefined) recipes.push({ target, imports, last, recipe })
  }
  return recipes
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

/** Those of the names that belong to a company, in the order given; at most `limit`; one query. */
export async function findNames(
  db: Queries,
  names: readonly IdentifyingName[],
  limit: number,
): Promise<IdentifyingName[]> {
  // A name may be cut within a character; it matches no company.
  const identifiers = [...new Set(names.map(([, identifier]) => identifier.toWellFormed()))]
  const found = await db.rows(
    `select jurisdiction, identifier from ${db.dialect.companyNames.table}
     where ${db.dialect.isOneOf('identifier', '$identifiers', 'text')}`,
    { identifiers },
  )
  const known = new Set(
    found.map(({ jurisdiction, identifier }) => JSON.stringify([jurisdiction, identifier])),
  )
  return names.filter((name) => known.has(JSON.stringify(name))).slice(0, limit)
}

/** Reads the last import of each source, for the metrics. */
export const lastImportsSql = `
  select s.name as source, i.version, i.committed_at as "committedAt"
  from imports i join sources s on s.id = i.source_id
  where i.version in (
    select max(version) from imports where reverts is null and reverted_by is null
    group by source_id
  )
  order by i.version desc limit 100`
