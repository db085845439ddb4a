// A company has a bounded number of types in `meta` (contract 3.7), whatever an import brings and
// whatever is recorded of it. Both are held to that before anything is written.
//
// `type_change` has what an import changes of each listing's types, by company. Where those that
// come and those that are there would be too many together, the rows are taken in the order in
// which they were read, as if each were an import of its own: one that would be a type too many is
// refused, and with it all rows of its record.

import { OperatorError } from '../../operator-error.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import type { Recording } from '../importing.ts'
import type { LoadTarget } from '../load-target.ts'
import type { Database, Value } from './database.ts'

/** A record that is refused with all its rows: its id, a company's where companies are imported. */
export interface Beyond {
  readonly id: number
  readonly field: string
  readonly value: string | null
  readonly reason: string
}

/** The steps of a merge between placing its rows and writing them. */
interface Steps {
  findChanges(): Promise<unknown>
  /** Stages the records that tell of the changes, and gives how many they are. */
  record(): Promise<number>
  /** Has the rows in `beyond` refused. */
  refuseBeyond(): Promise<unknown>
}

/** What is merged, and what is recorded of it. */
interface Merged {
  readonly target: LoadTarget
  /** Undefined where nothing is recorded. */
  readonly recording: Recording | undefined
  /** The last row of the stage that was imported; recorded ones come after it. */
  readonly after: number
}

/**
 * Finds what an import changes and stages what is recorded of it, without the rows that would give
 * a company too many types.
 *
 * @returns how many records were staged behind row `after`.
 * @throws OperatorError where a change that no row brings, a removal, cannot be recorded.
 */
export async function settleChanges(
  db: Database,
  { target, recording, after }: Merged,
  steps: Steps,
): Promise<number> {
  for (;;) {
    await steps.findChanges()
    await db.run('create temp table beyond (id bigint, field text, value text, reason text)')
    let isBeyond = await refuseTypes(db, target)
    const recorded = isBeyond || recording === undefined ? 0 : await steps.record()
    if (recording && recorded > 0) isBeyond = await refuseRecorded(db, recording, after)
    if (!isBeyond) return recorded
    await steps.refuseBeyond()
    // What was found goes: without those rows, something else changes.
    const tables = ['change', 'removal', 'type_change', 'sighted', 'beyond']
    for (const table of tables)
      await db.run(`drop table if exists ${db.dialect.temporary}.${table}`)
    await db.run(`delete from stage where seq > ${after}`)
  }
}

/** Notes the records that would be a type too many; false where there are none. */
async function refuseTypes(db: Database, { name, metaOf }: LoadTarget): Promise<boolean> {
  if (metaOf === undefined) return false
  const companies = await findCrowded(
    db,
    name,
    'select company_id, count(*) as n from type_change where n > 0 group by company_id',
  )
  const overfull: number[] = []
  for (const company of companies) {
    const types = await readTypes(db, name, company)
    const known = types.size
    const changes = await db.rows(
      `select type, sum(n) as n from type_change where company_id = ${company} group by type`,
    )
    for (const { type, n } of changes) add(types, parse(type), Number(n))
    if (types.size > Math.max(metaTypesMax, known)) overfull.push(company)
  }
  if (overfull.length === 0) return false

  let last: { readonly company: number; readonly types: Map<string, number> } | undefined
  for await (const rows of db.batches(comings(db, name, metaOf, overfull))) {
    const beyond: Beyond[] = []
    for (const row of rows) {
      const company = Number(row['company_id'])
      if (last?.company !== company) last = { company, types: await readTypes(db, name, company) }
      const [before, after] = [parse(row['was']), parse(row['became'])]
      if (replace(last.types, before, after)) continue
      beyond.push({ id: Number(row['id']), field: metaOf, value: after ?? null, reason: tooMany() })
    }
    await noteBeyond(db, beyond)
  }
  return true
}

async function noteBeyond(db: Database, rows: readonly Beyond[]): Promise<void> {
  const sql = 'insert into beyond values (cast($id as bigint), $field, $value, $reason)'
  for (const row of rows) await db.run(sql, { ...row })
}

/** Counts one record in place of another; does nothing, and gives false, for a type too many. */
function replace(
  types: Map<string, number>,
  before: string | undefined,
  after: string | undefined,
): boolean {
  const size = types.size
  add(types, before, -1)
  const isNew = after !== undefined && !types.has(after)
  const isFull = types.size >= Math.max(metaTypesMax, size)
  add(types, isNew && isFull ? before : after, 1)
  return !(isNew && isFull)
}

// A constant would load the runtime's number formats (30 ms) at the start of every command.
const typesAllowed = () => `the ${metaTypesMax.toLocaleString('en')} kinds that a company may have`
const tooMany = () => `exceeds ${typesAllowed()}`

/** What comes and goes in some listings, in order: removals, then rows as they were read. */
const comings = (db: Database, name: string, metaOf: string, companies: readonly number[]) => `
  select company_id, seq, id, was, became from (
    select g.company_id, -1 as seq, null as id, ${db.dialect.jsonMember('r.record', metaOf)} as was,
        null as became
      from removal g
      join ${name} r on r.company_id = g.company_id and r.position = g.position
    union all
    select c.company_id, c.seq, c.id, ${db.dialect.jsonMember('r.record', metaOf)},
        ${db.dialect.jsonMember('s.content', metaOf)}
      from change c
      join stage s on s.seq = c.seq
      left join ${name} r on r.company_id = c.company_id and r.position = c.position
  ) moved
  where company_id in (${companies.join(', ')})
  order by company_id, seq`

/** Notes the records whose changes cannot be recorded; false where there are none. */
async function refuseRecorded(
  db: Database,
  { resource }: Recording,
  after: number,
): Promise<boolean> {
  const { name, metaOf, changeFields } = resource
  if (metaOf === undefined) return false
  const companies = await findCrowded(
    db,
    name,
    `select company_id, count(*) as n from stage where seq > ${after} group by company_id`,
  )
  let isBeyond = false
  for (const company of companies) {
    const types = await readTypes(db, name, company)
    const limit = Math.max(metaTypesMax, types.size)
    let first: Readonly<Record<string, unknown>> | undefined
    const staged = `select content from stage where seq > ${after} and company_id = ${company}`
    for (const { content } of await db.rows(`${staged} order by seq`)) {
      const record = JSON.parse(String(content)) as Readonly<Record<string, unknown>>
      add(types, String(record[metaOf]), 1)
      if (types.size > limit) first ??= record
    }
    if (first === undefined) continue
    isBeyond = true
    const value = (first[changeFields?.after ?? ''] ?? null) as string | null
    const rows = await db.rows(
      `select distinct p.id from change c join placed p on p.seq = c.seq
       where c.company_id = ${company}`,
    )
    if (rows.length === 0) throw unrecordable(name, company)
    const refusal = { field: String(first[metaOf]), value, reason: recordedTooMany() }
    await noteBeyond(
      db,
      rows.map(({ id }) => ({ id: Number(id), ...refusal })),
    )
  }
  return isBeyond
}

const recordedTooMany = () => `would be recorded, and exceed ${typesAllowed()}`

function unrecordable(name: string, company: number): OperatorError {
  return new OperatorError(
    `changes of company ${company} cannot be recorded: its ${name} would be of more than ` +
      `${metaTypesMax.toLocaleString('en')} kinds; to record nothing, import without --as-of`,
  )
}

/**
 * The companies whose types could be too many.
 *
 * @param comings gives companies and how many types come to each at the most, `n`, as SQL.
 */
async function findCrowded(db: Database, name: string, comings: string): Promise<number[]> {
  const known = `coalesce(${db.dialect.jsonLength('h.meta')}, 0)`
  const rows = await db.rows(
    `select t.company_id from (${comings}) t
     left join heads h on h.company_id = t.company_id and h.resource = '${name}'
     where t.n + ${known} > ${metaTypesMax} order by t.company_id`,
  )
  return rows.map(({ company_id: company }) => Number(company))
}

/** The types of a listing, and how many records are of each. */
async function readTypes(
  db: Database,
  name: string,
  company: number,
): Promise<Map<string, number>> {
  const [head] = await db.rows(
    `select meta from heads where company_id = ${company} and resource = '${name}'`,
  )
  const meta = JSON.parse(String(head?.['meta'] ?? '[]')) as { type: string; count: number }[]
  return new Map(meta.map(({ type, count }) => [type, count]))
}

/** Counts records of a type; one that has none left is gone. */
function add(types: Map<string, number>, type: string | undefined, count: number): void {
  if (type === undefined) return
  const now = (types.get(type) ?? 0) + count
  if (now > 0) types.set(type, now)
  else types.delete(type)
}

function parse(type: Value | undefined): string | undefined {
  return type === null || type === undefined ? undefined : (JSON.parse(String(type)) as string)
}
