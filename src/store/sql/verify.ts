// Verifies everything in a store, in one snapshot. The rules are the same for every store; a
// database contributes what differs.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { filterColumns } from '../../resources/filters.ts'
import { metaTypesMax, type Resource } from '../../resources/resource.ts'
import type { StoredChecks, Verification } from '../inspecting.ts'
import { largestRecords } from '../page-size.ts'
import { type Database, readValue, type Row, type Value } from './database.ts'
import { pastHeadFaults } from './past-heads.ts'
import { piecesOf, recordsOf } from './pieces.ts'
import { countedMeta } from './type-counts.ts'
import { verifyNames } from './verify-names.ts'

/** How many faults of each kind are reported individually. */
export const faultsShownMax = 20

/** A kind of fault: a query for the faulty rows, and the description of one. */
export interface Rule {
  readonly sql: string
  readonly describe: (row: Row) => string
}

/** A database connection within one snapshot. */
export interface VerifiedDatabase extends Database {
  /** Damage of the files that hold the tables, a sentence each. */
  damage(): Iterable<string> | AsyncIterable<string>
  /** The message of an error caused by unreadable files; undefined for other errors. */
  damageIn(error: unknown): string | undefined
  /** The id in a record's text, as an SQL expression on `record`; null if there is none. */
  readonly idInRecord: string
  /** Rules for tables that only this database has. */
  readonly rules: Readonly<Record<string, Rule>>
}

/**
 * Checks everything that is stored, and changes nothing.
 *
 * @param onStep is called often with what is being checked; throwing in it stops the verification.
 */
export async function verifyStore(
  db: VerifiedDatabase,
  resources: readonly Resource[],
  checks: StoredChecks,
  onStep: (step: string) => void,
): Promise<Omit<Verification, 'notes'>> {
  const faults = collectFaults()
  const counts: Record<string, number> = {}
  try {
    onStep('the file')
    for await (const sentence of db.damage()) faults.add('file', `file: ${sentence}`)
    onStep('companies')
    await applyRules(db, { ...importRules, ...companyRules, ...db.rules }, faults)
    Object.assign(counts, await verifyAttributes(db, checks, faults, onStep))
    for (const resource of resources) {
      onStep(resource.name)
      await applyRules(db, listingRules(db, resource), faults)
      Object.assign(counts, await verifyRecords(db, resource, checks, faults, onStep))
    }
  } catch (error) {
    const damage = db.damageIn(error)
    if (damage === undefined) throw error
    faults.add('file', `file: it cannot be read completely: ${damage}`)
  }
  return { counts, faults: faults.shown() }
}

function collectFaults() {
  const kinds = new Map<string, { shown: string[]; count: number }>()
  return {
    add(kind: string, sentence: string): void {
      const known = kinds.get(kind) ?? { shown: [], count: 0 }
      kinds.set(kind, known)
      known.count += 1
      if (known.count <= faultsShownMax) known.shown.push(sentence)
    },
    shown(): string[] {
      return [...kinds].flatMap(([kind, { shown, count }]) =>
        count > shown.length ? [...shown, `${kind}: … and ${count - shown.length} more`] : shown,
      )
    },
  }
}

type Faults = ReturnType<typeof collectFaults>

async function applyRules(
  db: VerifiedDatabase,
  rules: Readonly<Record<string, Rule>>,
  faults: Faults,
): Promise<void> {
  for (const [kind, { sql, describe }] of Object.entries(rules)) {
    for await (const rows of db.batches(sql))
      for (const row of rows) faults.add(kind, describe(row))
    await nextTurn()
  }
}

/** Calls `look` for each row, yielding between batches, and returns the number of rows. */
async function eachRow(
  db: VerifiedDatabase,
  sql: string,
  onStep: () => void,
  look: (row: Row) => void,
): Promise<number> {
  let count = 0
  for await (const rows of db.batches(sql)) {
    for (const row of rows) look(row)
    count += rows.length
    onStep()
    await nextTurn()
  }
  return count
}

async function verifyAttributes(
  db: VerifiedDatabase,
  checks: StoredChecks,
  faults: Faults,
  onStep: (step: string) => void,
): Promise<Record<string, number>> {
  const companies = Number(await readValue(db, 'select count(*) from companies'))
  const look = (state: string) => (row: Row) => {
    const reason = checks.checkAttributes(text(row['attributes']), text(row['digest']))
    if (reason === undefined) return
    faults.add('attributes', `attributes of company ${text(row['company_id'])}${state}: ${reason}`)
  }
  const step = () => onStep('companies')
  const attributes = `select company_id, attributes, digest from company_attributes`
  await eachRow(db, attributes, step, look(''))
  const past = `select company_id, attributes, digest from company_attributes_past`
  const former = await eachRow(db, past, step, look(', past state'))
  const names = await verifyNames(db, (kind, sentence) => faults.add(kind, sentence), step)
  return { companies, names, 'companies, past states': former }
}

async function verifyRecords(
  db: VerifiedDatabase,
  resource: Resource,
  checks: StoredChecks,
  faults: Faults,
  onStep: (step: string) => void,
): Promise<Record<string, number>> {
  const { name } = resource
  const look = (state: string, filters?: readonly string[]) => (row: Row) => {
    const stored = {
      record: text(row['record']),
      sort: text(row['sort']),
      digest: text(row['digest']),
      filters: filters?.map((column) => row[column] ?? null),
    }
    const reason =
      row['id'] !== row['id_in_record']
        ? `contains the id ${text(row['id_in_record'])}`
        : checks.checkRecord(resource, stored)
    if (reason === undefined) return
    const place = `company ${text(row['company_id'])}, record ${text(row['id'])}${state}`
    faults.add(`${name} records`, `${name} of ${place}: ${reason}`)
  }
  const columns = `company_id, id, sort, digest, record, ${db.idInRecord} as id_in_record`
  const filters = filterColumns(resource).map(({ column }) => column)
  const step = () => onStep(name)
  const present = `select ${[columns, ...filters].join(', ')} from ${recordsOf(name)}`
  const records = await eachRow(db, present, step, look('', filters))
  const past = `select ${columns} from ${name}_past`
  const former = await eachRow(db, past, step, look(', past state'))
  return { [name]: records, [`${name}, past states`]: former }
}

const isUnknownVersion = (column: string) => `${column} not in (select version from imports)`

const importRules: Readonly<Record<string, Rule>> = {
  lineages: {
    sql: `select version from imports
      where lineage in (select lineage from imports group by lineage having count(*) > 1)`,
    describe: (row) => `import ${text(row['version'])}: another import has the same lineage`,
  },
}

const companyRules: Readonly<Record<string, Rule>> = {
  'company attributes': {
    sql: `select company_id from company_attributes
      where not exists (select 1 from companies c where c.id = company_id)
        or source_id not in (select id from sources) or ${isUnknownVersion('version')}`,
    describe: (row) =>
      `company ${text(row['company_id'])}: attributes without a company, source or version`,
  },
  'company past': {
    sql: `select company_id, version, until from company_attributes_past
      where version >= until or ${isUnknownVersion('until')}
      union all
      select company_id, version, until from companies_past
      where version >= until or ${isUnknownVersion('until')}`,
    describe: (row) =>
      `company ${text(row['company_id'])}: a past state has the versions ` +
      `${text(row['version'])} to ${text(row['until'])}`,
  },
}

/** The rules for a resource's listings and their heads (ideas 3 and 4 of ARCHITECTURE.md). */
function listingRules(db: VerifiedDatabase, resource: Resource): Readonly<Record<string, Rule>> {
  const { name, metaOf } = resource
  const company = (row: Row) => `${name} of company ${text(row['company_id'])}`
  return {
    [`${name} positions`]: {
      sql: positionFaults(name),
      describe: (row) =>
        `${company(row)}: ${text(row['records'])} records at positions ${text(row['first'])} to ` +
        `${text(row['last'])}, but the head has a total of ${text(row['total'])}`,
    },
    [`${name} pieces`]: {
      sql: pieceFaults(resource),
      describe: (row) =>
        `${company(row)}: the texts of the records from position ${text(row['place'])} on do not ` +
        'match their index',
    },
    [`${name} order`]: {
      sql: orderFaults(name),
      describe: (row) =>
        `${company(row)}: the record at position ${text(row['place'])} is out of order`,
    },
    [`${name} versions`]: {
      sql: headVersionFaults(name),
      describe: (row) =>
        `${company(row)}: last changed in version ${text(row['version'])} according to its head, ` +
        `in version ${text(row['newest'])} according to its records`,
    },
    [`${name} sizes`]: {
      sql: sizeFaults(name),
      describe: (row) =>
        `${company(row)}: the largest record has ${text(row['bytes'])} bytes, but the head ` +
        `has ${text(row['largest'])}`,
    },
    [`${name} rows`]: {
      sql: rowFaults(name),
      describe: (row) =>
        `${company(row)}: a record without a company, source or version, or with wrong versions`,
    },
    [`${name} identities`]: {
      sql: `select id, min(company_id) as company_id from ${name} group by id
        having min(digest) <> max(digest) or min(source_id) <> max(source_id)`,
      describe: (row) => `${name}: the record ${text(row['id'])} has more than one content`,
    },
    [`${name} former heads`]: {
      sql: pastHeadFaults(db.dialect, resource),
      describe: (row) =>
        `${company(row)}: the head before version ${text(row['until'])} does not match the records`,
    },
    ...(metaOf === undefined ? {} : metaRules(db, name, metaOf)),
  }
}

function metaRules(
  { dialect }: Database,
  name: string,
  metaOf: string,
): Readonly<Record<string, Rule>> {
  const company = (row: Row) => `${name} of company ${text(row['company_id'])}`
  return {
    [`${name} meta`]: {
      sql: metaFaults(name, countedMeta(dialect, name, metaOf)),
      describe: (row) => `${company(row)}: meta does not match the records`,
    },
    [`${name} types`]: {
      sql: `select company_id, types from (
          select h.company_id, ${dialect.jsonLength('h.meta')} as types
          from heads h where h.resource = '${name}'
        ) counted where types > ${metaTypesMax}`,
      describe: (row) => `${company(row)}: ${text(row['types'])} types, more than ${metaTypesMax}`,
    },
  }
}

const positionFaults = (name: string) => `
  select coalesce(l.company_id, h.company_id) as company_id, coalesce(l.records, 0) as records,
    l.first, l.last, h.total
  from (
    select company_id, count(*) as records, min(position) as first, max(position) as last
    from ${name} group by company_id
  ) l
  full join (select * from heads where resource = '${name}') h on h.company_id = l.company_id
  where l.first <> 0 or l.last <> l.records - 1
    or coalesce(h.total, -1) <> coalesce(l.records, 0)`

const pieceFaults = ({ name, order }: Resource) => `
  select p.company_id, p.position as place
  from ${piecesOf(name)} p
  left join (
    select company_id, piece, min(position) as first, max(position) as last,
      string_agg(record, ','
        order by position ${order.direction === 'descending' ? 'desc' : 'asc'}) as texts
    from ${recordsOf(name)} group by company_id, piece
  ) r on r.company_id = p.company_id and r.piece = p.position
  where r.first is distinct from p.position or r.last is distinct from p.last
    or r.texts is distinct from p.texts
  union all
  select company_id, position from ${name} r where not exists (
    select 1 from ${piecesOf(name)} p where p.company_id = r.company_id and p.position = r.piece
  )`

const orderFaults = (name: string) => `
  select company_id, place from (
    select company_id, position as place, sort, id, lag(sort) over one as sort_before,
      lag(id) over one as id_before
    from ${name} window one as (partition by company_id order by position)
  ) placed
  where (sort_before, id_before) >= (sort, id)`

// If a head's last change was pruned, no record shows the head's version any more.
const headVersionFaults = (name: string) => `
  select h.company_id, h.version, l.newest
  from heads h
  left join (
    select company_id, max(version) as newest from (
      select company_id, version from ${name}
      union all
      select company_id, until from ${name}_past
    ) changed group by company_id
  ) l on l.company_id = h.company_id
  where h.resource = '${name}' and (
    h.version < l.newest
    or h.version > coalesce(l.newest, 0) and h.version > (select past_from from store)
  )`

const sizeFaults = (name: string) => `
  select h.company_id, l.bytes, h.largest
  from (${largestRecords(name)}) l
  join heads h on h.company_id = l.company_id and h.resource = '${name}'
  where coalesce(h.largest, 0) < l.bytes`

const rowFaults = (name: string) => `
  select company_id from ${name}
    where ${isUnknownVersion('version')} or source_id not in (select id from sources)
  union all
  select company_id from heads
    where resource = '${name}'
      and not exists (select 1 from companies c where c.id = company_id)
  union all
  select company_id from ${name}_past
    where version >= until or ${isUnknownVersion('until')}
      or source_id not in (select id from sources)`

const metaFaults = (name: string, metaOfListings: string) => `
  select h.company_id
  from heads h
  left join (${metaOfListings}) l on l.company_id = h.company_id
  where h.resource = '${name}' and h.meta is distinct from coalesce(l.meta, '[]')`

function text(value: Value | undefined): string {
  return value === null || value === undefined ? 'none' : String(value)
}
