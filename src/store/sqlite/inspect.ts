// What an operator may see of the embedded store: the log of imports, and a company.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { ImportedFile } from '../importing.ts'
import type {
  CompanyAttributes,
  CompanyName,
  CompanyRecord,
  IdentifyingName,
  LoggedImport,
} from '../inspecting.ts'

type Row = Record<string, SQLOutputValue>

/** The last `limit` imports, the newest first. */
export function listImports(db: DatabaseSync, limit: number): LoggedImport[] {
  return db
    .prepare(
      `select i.*, s.name as source from imports i join sources s on s.id = i.source_id
       order by version desc limit ?`,
    )
    .all(limit)
    .map(loggedImport)
}

function loggedImport(row: Row): LoggedImport {
  const number = (name: string) => Number(row[name])
  return {
    version: number('version'),
    target: String(row['resource']),
    source: String(row['source']),
    isSnapshot: row['is_snapshot'] === 1,
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
  }
}

/** A company with what each of its sources says of it. */
export function findCompany(db: DatabaseSync, name: CompanyName): CompanyRecord | undefined {
  const row =
    typeof name === 'number'
      ? db.prepare('select * from companies where id = ?').get(name)
      : db
          .prepare('select * from companies where jurisdiction = ? and identifier = ?')
          .get(name[0], name[1])
  if (row === undefined) return undefined
  const id = Number(row['id'])
  return {
    id,
    jurisdiction: optionalText(row['jurisdiction']),
    identifier: optionalText(row['identifier']),
    attributes: db
      .prepare(
        `select a.*, s.name as source from company_attributes a
         join sources s on s.id = a.source_id where company_id = ? order by s.name`,
      )
      .all(id)
      .map(companyAttributes),
  }
}

/** The first `limit` of these names that companies have, in the order given. */
export function findNames(
  db: DatabaseSync,
  names: readonly IdentifyingName[],
  limit: number,
): IdentifyingName[] {
  const find = db.prepare('select 1 from companies where jurisdiction = ? and identifier = ?')
  const found: IdentifyingName[] = []
  for (const name of names) {
    if (found.length === limit) break
    if (find.get(...name) !== undefined) found.push(name)
  }
  return found
}

function companyAttributes(row: Row): CompanyAttributes {
  return {
    source: String(row['source']),
    isPresent: row['is_present'] === 1,
    asOf: optionalText(row['as_of']),
    version: Number(row['version']),
    attributes: JSON.parse(String(row['attributes'])) as Record<string, unknown>,
  }
}

function optionalText(value: SQLOutputValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}
