// What an operator may see of a store in PostgreSQL: the log of imports, and a company.

import type { Client } from 'pg'
import { OperatorError } from '../../operator-error.ts'
import type { ImportedFile } from '../importing.ts'
import type {
  CompanyAttributes,
  CompanyName,
  CompanyRecord,
  IdentifyingName,
  LoggedImport,
} from '../inspecting.ts'
import { describeUrl, schemaIn } from './url.ts'

interface ImportRow {
  readonly version: number
  readonly resource: string
  readonly source: string
  readonly is_snapshot: boolean
  readonly as_of: string | null
  readonly started_at: number
  readonly committed_at: number
  readonly files: string
  readonly read: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly removed: number
  readonly companies_created: number
  readonly recorded: string
}

/** The last `limit` imports, the newest first. */
export async function listImports(client: Client, limit: number): Promise<LoggedImport[]> {
  const { rows } = await client.query<ImportRow>(
    `select i.*, s.name as source from imports i join sources s on s.id = i.source_id
     order by version desc limit $1`,
    [limit],
  )
  return rows.map((row) => ({
    version: row.version,
    target: row.resource,
    source: row.source,
    isSnapshot: row.is_snapshot,
    asOf: row.as_of ?? undefined,
    startedAt: row.started_at,
    committedAt: row.committed_at,
    files: JSON.parse(row.files) as ImportedFile[],
    counts: {
      read: row.read,
      inserted: row.inserted,
      updated: row.updated,
      unchanged: row.unchanged,
      refused: row.refused,
      removed: row.removed,
      companiesCreated: row.companies_created,
    },
    recorded: JSON.parse(row.recorded) as Record<string, number>,
  }))
}

interface CompanyRow {
  readonly id: number
  readonly jurisdiction: string | null
  readonly identifier: string | null
}

interface AttributesRow {
  readonly source: string
  readonly is_present: boolean
  readonly as_of: string | null
  readonly version: number
  readonly attributes: string
}

/** A company with what each of its sources says of it. */
export async function findCompany(
  client: Client,
  name: CompanyName,
): Promise<CompanyRecord | undefined> {
  const columns = 'select c.id, c.jurisdiction, c.identifier from'
  const [found] = (
    typeof name === 'number'
      ? await client.query<CompanyRow>(`${columns} companies c where c.id = $1`, [name])
      : await client.query<CompanyRow>(
          `${columns} company_names n join companies c on c.id = n.company_id
           where n.jurisdiction = $1 and n.identifier = $2`,
          [...name],
        )
  ).rows
  if (found === undefined) return undefined
  const { rows } = await client.query<AttributesRow>(
    `select s.name as source, a.is_present, a.as_of, a.version, a.attributes
     from company_attributes a join sources s on s.id = a.source_id
     where a.company_id = $1 order by s.name`,
    [found.id],
  )
  return {
    id: found.id,
    jurisdiction: found.jurisdiction ?? undefined,
    identifier: found.identifier ?? undefined,
    attributes: rows.map(attributesOf),
  }
}

/** The first `limit` of these names that companies have, in the order given: one question. */
export async function findNames(
  client: Client,
  names: readonly IdentifyingName[],
  limit: number,
): Promise<IdentifyingName[]> {
  const { rows } = await client.query<{ jurisdiction: string; identifier: string }>(
    `select jurisdiction, identifier
     from unnest($1::text[], $2::text[]) with ordinality as asked (jurisdiction, identifier, place)
     join company_names using (jurisdiction, identifier)
     order by place limit $3`,
    [names.map(([jurisdiction]) => jurisdiction), names.map(([, identifier]) => identifier), limit],
  )
  return rows.map(({ jurisdiction, identifier }) => [jurisdiction, identifier])
}

function attributesOf(row: AttributesRow): CompanyAttributes {
  return {
    source: row.source,
    isPresent: row.is_present,
    asOf: row.as_of ?? undefined,
    version: row.version,
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
  }
}

/** A server is copied by tools of its own: ours could copy it no better. */
export function noBackup(db: string, path: string): OperatorError {
  const url = new URL(describeUrl(db))
  url.searchParams.delete('schema')
  const schema = schemaIn(db)
  const only = schema === undefined ? '' : ` --schema=${schema}`
  return new OperatorError(
    `${describeUrl(db)} is a PostgreSQL, which has tools of its own to be copied with: ` +
      `pg_dump --format=custom${only} --file=${path} '${url.href}'`,
  )
}
