// The log of imports: every version of the registry, an import or a revert.

import { randomBytes } from 'node:crypto'
import type { ImportedFile } from '../../files/source-file.ts'
import type { LoggedVersion } from '../history/reverted-versions.ts'
import type { Earlier, ImportCounts, LoggedDifference, Recipe } from '../importing.ts'
import type { LoggedImport, ShownImport, SourceRecipe } from '../inspecting.ts'
import {
  type Database,
  optionalNumber,
  optionalText,
  type Queries,
  readStoreId,
  readValue,
  type Row,
  type Value,
  type Values,
} from './database.ts'

/** What the log says about a version, besides its number, source and day. */
interface LogEntry {
  readonly target: string
  readonly isSnapshot: boolean
  readonly startedAt: number
  readonly counts: Omit<ImportCounts, 'recorded' | 'erased' | 'withheld'>
  readonly files: readonly ImportedFile[]
  /** The number of records that describe its changes, by resource. */
  readonly recorded: Readonly<Record<string, number>>
  /** The versions that it takes back; undefined for an import, none for a withholding. */
  readonly reverts?: readonly number[]
  /** Undefined for what is no import of files. */
  readonly recipe?: Recipe | undefined
  /** The attributes that its source has for the first time. */
  readonly attributes?: readonly string[] | undefined
  readonly difference?: LoggedDifference | undefined
  /** A new one if it is not given. */
  readonly lineage?: string
}

/**
 * Adds a version to the log.
 *
 * @param values `version`, `source` (a number) and `asOf`.
 */
export async function logVersion(db: Database, values: Values, entry: LogEntry): Promise<void> {
  const { target, isSnapshot, startedAt, counts, files, recorded, reverts } = entry
  const lineage = entry.lineage ?? (await drawLineage(db))
  await db.run(
    `insert into imports values (
       $version, $target, $source, $isSnapshot, $startedAt, $committedAt, $files, $read, $inserted,
       $updated, $unchanged, $refused, $removed, $companiesCreated, $asOf, $recorded, $lineage,
       $reverts, null, $recipe, $attributes, $difference
     )`,
    {
      ...values,
      ...counts,
      target,
      isSnapshot,
      startedAt,
      committedAt: Date.now(),
      lineage,
      files: JSON.stringify(files),
      recorded: JSON.stringify(recorded),
      reverts: reverts === undefined ? null : JSON.stringify(reverts),
      recipe: jsonOrNull(entry.recipe),
      attributes: JSON.stringify(entry.attributes ?? []),
      difference: jsonOrNull(entry.difference),
    },
  )
}

const jsonOrNull = (value: object | undefined) =>
  value === undefined ? null : JSON.stringify(value)

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
  const difference = parsed(row['difference']) as LoggedDifference | undefined
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
    reverts: parsed(row['reverts']) as number[] | undefined,
    revertedBy: optionalNumber(row['reverted_by']),
  }
}

/** All versions, in order. */
export async function readVersions(db: Database): Promise<LoggedVersion[]> {
  const rows = await db.rows(
    `select i.version, i.resource, i.source_id, s.name, i.recorded, i.reverts, i.reverted_by
     from imports i join sources s on s.id = i.source_id order by i.version`,
  )
  return rows.map((row) => ({
    version: Number(row['version']),
    target: String(row['resource']),
    sourceId: Number(row['source_id']),
    source: String(row['name']),
    recordedIn: Object.keys(JSON.parse(String(row['recorded'])) as object),
    reverts: (parsed(row['reverts']) as number[] | undefined) ?? [],
    isWithholding: row['reverts'] === '[]',
    revertedBy: optionalNumber(row['reverted_by']),
  }))
}

/** Whether a version has removed all that a source had of a target: it has no files. */
export const isRemoval = `(files = '[]' and reverts is null)`

/** The imports of a target from a source that are in force, and how the last one was done. */
export async function readEarlier(
  db: Queries,
  of: { readonly source: number; readonly target: string },
): Promise<Earlier> {
  const inForce = `
    from imports where source_id = $source and resource = $target
      and reverts is null and reverted_by is null`
  const all = await db.rows(
    `select version, as_of, is_snapshot, files, attributes, ${isRemoval} as is_removal
     ${inForce} order by version`,
    of,
  )
  const [last] = await db.rows(
    `select recipe, difference ${inForce} and not ${isRemoval} order by version desc limit 1`,
    of,
  )
  const hasRemoved = (row: Row) => Boolean(row['is_removal'])
  const imports = all.filter((row) => !hasRemoved(row))
  const names = imports.flatMap((row) => JSON.parse(String(row['attributes'])) as string[])
  return {
    imports: imports.map((row) => ({
      version: Number(row['version']),
      asOf: optionalText(row['as_of']),
      isSnapshot: Boolean(row['is_snapshot']),
      files: JSON.parse(String(row['files'])) as ImportedFile[],
    })),
    recipe: parsed(last?.['recipe']) as Recipe | undefined,
    attributes: names,
    difference: parsed(last?.['difference']) as LoggedDifference | undefined,
    removedIn: Number(all.findLast(hasRemoved)?.['version'] ?? 0),
  }
}

/** The versions in force of a target from a source, each with whether it removed all of it. */
export async function readVersionsInForce(
  db: Queries,
  of: { readonly source: number; readonly target: string },
): Promise<ReadonlyMap<number, boolean>> {
  const rows = await db.rows(
    `select version, ${isRemoval} as is_removal from imports
     where source_id = $source and resource = $target and reverted_by is null`,
    of,
  )
  return new Map(rows.map((row) => [Number(row['version']), Boolean(row['is_removal'])]))
}

function parsed(value: Value | undefined): unknown {
  const text = optionalText(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/**
 * Draws the lineage of an import: the mark of its store and 48 random bits, as 16 hexadecimal
 * digits. It identifies the history to which a version belongs: version numbers repeat when a
 * restored backup is imported into, but no other import has the same lineage. Copies of a store
 * share the lineages of the imports that they share. Whatever clients keep and send back later,
 * such as an entity tag, is made from a lineage, never from a version number.
 */
export async function drawLineage(db: Queries): Promise<string> {
  return markOfStore(await readStoreId(db)) + randomBytes(6).toString('hex')
}

/** What the lineages of a store, and of its copies, begin with. */
export const markOfStore = (storeId: string) => storeId.slice(0, 4)

/** The number of a source; undefined if there is none of this name. */
export async function knownSourceId(db: Database, name: string): Promise<number | undefined> {
  const id = await readValue(db, 'select id from sources where name = $name', { name })
  return id === undefined ? undefined : Number(id)
}

/** The number that a source has, or gets if no other one is added before it. */
export async function likelySourceId(db: Database, name: string): Promise<number> {
  const next = 'select coalesce(max(id), 0) + 1 from sources'
  return (await knownSourceId(db, name)) ?? Number(await readValue(db, next))
}

/** The number of a source, which is added if it is new. */
export async function sourceId(db: Database, name: string): Promise<number> {
  const known = await knownSourceId(db, name)
  if (known !== undefined) return known
  const add = 'insert into sources (id, name) select coalesce(max(id), 0) + 1, $name from sources'
  await db.run(add, { name })
  return Number(await knownSourceId(db, name))
}
