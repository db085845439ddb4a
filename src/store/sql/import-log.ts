// The log of imports: every version of the registry, an import or a revert.

import { randomBytes } from 'node:crypto'
import type { ImportedFile } from '../../files/source-file.ts'
import type { Earlier, ImportCounts, LoggedDifference, Recipe } from '../importing.ts'
import type { LoggedImport, ShownImport, SourceRecipe } from '../inspecting.ts'
import { type RegistryDatabase, numberIn, readStoreId, readValue } from './database.ts'
import type { RowReader } from './dialect.ts'

interface LogEntry {
  readonly version: number
  readonly target: string
  /** The number of its source. */
  readonly source: number
  readonly startedAt: number
  readonly counts: Partial<ImportCounts>
  /** For a version that imports no files, what does not apply to it is left out. */
  readonly asOf?: string | null
  readonly isSnapshot?: boolean
  readonly files?: readonly ImportedFile[]
  /** The number of records that describe its changes, by resource. */
  readonly recorded?: Readonly<Record<string, number>>
  /** The versions that it takes back; undefined for an import, none for a withholding. */
  readonly reverts?: readonly number[]
  readonly recipe?: Recipe | undefined
  /** The attributes that its source has for the first time. */
  readonly attributes?: readonly string[] | undefined
  readonly difference?: LoggedDifference | undefined
  /** Drawn if it is not given. */
  readonly lineage?: string
}

/** The number of the registry's next version. */
export const nextVersion = async (db: RowReader): Promise<number> =>
  1 + (await numberIn(db, 'select max(version) from imports'))

export async function logVersion(db: RegistryDatabase, entry: LogEntry): Promise<void> {
  const { read = 0, inserted = 0, updated = 0, unchanged = 0, refused = 0 } = entry.counts
  const { removed = 0, companiesCreated = 0 } = entry.counts
  const row = {
    version: entry.version,
    source_id: entry.source,
    as_of: entry.asOf ?? null,
    resource: entry.target,
    is_snapshot: entry.isSnapshot ?? false,
    started_at: entry.startedAt,
    committed_at: Date.now(),
    read,
    inserted,
    updated,
    unchanged,
    refused,
    removed,
    companies_created: companiesCreated,
    files: JSON.stringify(entry.files ?? []),
    recorded: JSON.stringify(entry.recorded ?? {}),
    lineage: entry.lineage ?? (await drawLineage(db)),
    reverts: jsonOrNull(entry.reverts),
    recipe: jsonOrNull(entry.recipe),
    attributes: JSON.stringify(entry.attributes ?? []),
    difference: jsonOrNull(entry.difference),
  }
  const columns = Object.keys(row)
  const values = columns.map((_, n) => `$${n + 1}`)
  await db.run(
    `insert into imports (${columns.join(', ')}) values (${values.join(', ')})`,
    ...Object.values(row),
  )
}

const jsonOrNull = (value: object | undefined) =>
  value === undefined ? null : JSON.stringify(value)

/** What a list of imports shows; recipes may be long. */
const loggedColumns = `
  i.version, i.resource, s.name, i.is_snapshot, i.as_of, i.started_at, i.committed_at, i.files,
  i.read, i.inserted, i.updated, i.unchanged, i.refused, i.removed, i.companies_created, i.recorded,
  i.reverts, i.reverted_by`

type LoggedColumns = readonly [
  version: number,
  target: string,
  source: string,
  isSnapshot: Flag,
  asOf: string | null,
  startedAt: number,
  committedAt: number,
  files: string,
  read: number,
  inserted: number,
  updated: number,
  unchanged: number,
  refused: number,
  removed: number,
  companiesCreated: number,
  recorded: string,
  reverts: string | null,
  revertedBy: number | null,
]

type Flag = boolean | number

/** The last `limit` imports before a version, newest first; all if both are undefined. */
export async function listImports(
  db: RowReader,
  limit = Number.MAX_SAFE_INTEGER,
  before = Number.MAX_SAFE_INTEGER,
): Promise<LoggedImport[]> {
  const rows = await db.rows<LoggedColumns>(
    `select ${loggedColumns} from imports i join sources s on s.id = i.source_id
     where i.version < cast($2 as bigint) order by i.version desc limit $1`,
    limit,
    before,
  )
  return rows.map(loggedImport)
}

/** One import, with what it has changed. */
export async function readImport(db: RowReader, version: number): Promise<ShownImport | undefined> {
  const [row] = await db.rows<readonly [difference: string | null, ...LoggedColumns]>(
    `select i.difference, ${loggedColumns}
     from imports i join sources s on s.id = i.source_id where version = $1`,
    version,
  )
  if (row === undefined) return undefined
  const [difference, ...logged] = row
  return { ...loggedImport(logged), difference: parsed(difference) as LoggedDifference | undefined }
}

/** How each target was last imported from a source, according to the imports in force. */
export async function readRecipes(db: RowReader, name: string): Promise<SourceRecipe[]> {
  const found = await db.rows<[source: number, target: string]>(
    `select i.source_id, i.resource from imports i join sources s on s.id = i.source_id
     where s.name = $1
     group by i.source_id, i.resource order by i.resource`,
    name,
  )
  const recipes: SourceRecipe[] = []
  for (const [source, target] of found) {
    const { imports, recipe } = await readEarlier(db, { source, target })
    const last = imports.at(-1)
    if (last !== undefined && recipe !== undefined) recipes.push({ target, imports, last, recipe })
  }
  return recipes
}

function loggedImport(row: LoggedColumns): LoggedImport {
  const [version, target, source, isSnapshot, asOf, startedAt, committedAt, files, ...more] = row
  const [read, inserted, updated, unchanged, refused, removed, companiesCreated, ...last] = more
  const [recorded, reverts, revertedBy] = last
  return {
    version,
    target,
    source,
    startedAt,
    committedAt,
    isSnapshot: Boolean(isSnapshot),
    asOf: asOf ?? undefined,
    files: JSON.parse(files) as ImportedFile[],
    counts: { read, inserted, updated, unchanged, refused, removed, companiesCreated },
    recorded: JSON.parse(recorded) as Record<string, number>,
    reverts: parsed(reverts) as number[] | undefined,
    revertedBy: revertedBy ?? undefined,
  }
}

/** Whether a version has removed all that a source had of a target: it has no files. */
export const isRemoval = `(files = '[]' and reverts is null)`

/** The imports of a target from a source that are in force, and how the last one was done. */
export async function readEarlier(
  db: RowReader,
  { source, target }: { readonly source: number; readonly target: string },
): Promise<Earlier> {
  const inForce = `
    from imports where source_id = $1 and resource = $2
      and reverts is null and reverted_by is null`
  type Columns = readonly [
    version: number,
    asOf: string | null,
    isSnapshot: Flag,
    files: string,
    attributes: string,
    isRemoval: Flag,
  ]
  const all = await db.rows<Columns>(
    `select version, as_of, is_snapshot, files, attributes, ${isRemoval}
     ${inForce} order by version`,
    source,
    target,
  )
  type Last = [recipe: string | null, difference: string | null]
  const [[recipe, difference] = [null, null]] = await db.rows<Last>(
    `select recipe, difference ${inForce} and not ${isRemoval} order by version desc limit 1`,
    source,
    target,
  )
  const hasRemoved = (row: Columns) => Boolean(row[5])
  const imports = all.filter((row) => !hasRemoved(row))
  return {
    imports: imports.map(([version, asOf, isSnapshot, files]) => ({
      version,
      asOf: asOf ?? undefined,
      isSnapshot: Boolean(isSnapshot),
      files: JSON.parse(files) as ImportedFile[],
    })),
    recipe: parsed(recipe) as Recipe | undefined,
    attributes: imports.flatMap(([, , , , names]) => JSON.parse(names) as string[]),
    difference: parsed(difference) as LoggedDifference | undefined,
    removedIn: all.findLast(hasRemoved)?.[0] ?? 0,
  }
}

const parsed = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text))

/**
 * Draws the lineage of an import: the mark of its store and 48 random bits, as 16 hexadecimal
 * digits. It identifies the history to which a version belongs: version numbers repeat when a
 * restored backup is imported into, but no other import has the same lineage. Copies of a store
 * share the lineages of the imports that they share. Whatever clients keep and send back later,
 * such as an entity tag, is made from a lineage, never from a version number.
 */
export async function drawLineage(db: RowReader): Promise<string> {
  return markOfStore(await readStoreId(db)) + randomBytes(6).toString('hex')
}

/** What the lineages of a store, and of its copies, begin with. */
export const markOfStore = (storeId: string) => storeId.slice(0, 4)

/** The number of a source; undefined if there is none of this name. */
export async function knownSourceId(db: RowReader, name: string): Promise<number | undefined> {
  return (await readValue<number>(db, 'select id from sources where name = $1', name)) ?? undefined
}

/** The number that a source has, or gets if no other one is added before it. */
export async function likelySourceId(db: RowReader, name: string): Promise<number> {
  const known = await knownSourceId(db, name)
  return known ?? numberIn(db, 'select coalesce(max(id), 0) + 1 from sources')
}

/** The number of a source, which is added if it is new. */
export async function sourceId(db: RegistryDatabase, name: string): Promise<number> {
  const known = await knownSourceId(db, name)
  if (known !== undefined) return known
  const id = await likelySourceId(db, name)
  await db.run('insert into sources (id, name) values ($1, $2)', id, name)
  return id
}
