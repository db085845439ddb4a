// Limits the number of types in a company's `meta` (contract 3.7), both for imported records and
// for recorded changes, before anything is written.
//
// `type_change` has an import's changes of each listing's types. If the new and the present types
// of a listing could exceed the limit, its rows are counted in the order read, as if each were an
// import of its own: a row that would add a type too many is refused, with all rows of its record.

import { formatCount } from '../../format-count.ts'
import { OperatorError } from '../../operator-error.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import type { Recording } from '../importing.ts'
import type { LoadTarget } from '../load-target.ts'
import type { Database, Value } from './database.ts'
import { recordsOf } from './pieces.ts'

/** A record that is refused with all its rows; its id, or that of a company being imported. */
export interface Beyond {
  readonly id: number
  readonly field: string
  readonly value: string | null
  readonly reason: string
}

/** The steps of a merge between placing its rows and writing them. */
interface Steps {
  findChanges(): Promise<unknown>
  /** Stages the records of the changes, and returns their number. */
  record(): Promise<number>
  /** Refuses the rows of the records in `beyond`. */
  refuseBeyond(): Promise<unknown>
}

/** The target of a merge, and the recording of its changes. */
interface Merged {
  readonly target: LoadTarget
  /** Undefined if nothing is recorded. */
  readonly recording: Recording | undefined
  /** The last imported row of the stage; recorded ones follow it. */
  readonly after: number
}

/**
 * Finds what an import changes and stages the records of it, without rows that would give a company
 * too many types.
 *
 * @returns the number of records staged after row `after`.
 * @throws OperatorError if a change that no row makes, a removal, cannot be recorded.
 */
export async function settleChanges(
  db: Database,
  { target, recording, after }: Merged,
  steps: Steps,
): Promise<number> {
  for (;;) {
    await steps.findChanges()
    await db.run('create temp table beyond (id bigint, field text, value text, reason text)')
    let isExceeded = await refuseTypes(db, target)
    const recorded = isExceeded || recording === undefined ? 0 : await steps.record()
    if (recording && recorded > 0) isExceeded = await refuseRecorded(db, recording, after)
    if (!isExceeded) return recorded
    await steps.refuseBeyond()
    // The results are discarded: without the refused rows, the changes are different.
    const tables = ['change', 'removal', 'type_change', 'sighted', 'beyond']
    for (const table of tables)
      await db.run(`drop table if exists ${db.dialect.temporary}.${table}`)
    await db.run(`delete from stage where seq > ${after}`)
  }
}

/** Lists the records that would add a type too many in `beyond`; false if there are none. */
async function refuseTypes(db: Database, { name, metaOf }: LoadTarget): Promise<boolean> {
  if (metaOf === undefined) return false
  const companies = await findCandidates(
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
  for await (const rows of db.batches(typeChanges(db, name, metaOf, overfull))) {
    const beyond: Beyond[] = []
    for (const row of rows) {
      const company = Number(row['company_id'])
      if (last?.company !== company) last = { company, types: await readTypes(db, name, company) }
      const [before, after] = [parse(row['was']), parse(row['became'])]
      if (replace(last.types, before, after)) continue
      beyond.push({ id: Number(row['id']), field: metaOf, value: after ?? null, reason: tooMany() })
    }
    await insertBeyond(db, beyond)
  }
  return true
}

async function insertBeyond(db: Database, rows: readonly Beyond[]): Promise<void> {
  const sql = 'insert into beyond values (cast($id as bigint), $field, $value, $reason)'
  for (const row of rows) await db.run(sql, { ...row })
}

/** Replaces a record's type; if the new one is too many, changes nothing and returns false. */
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

// Not a constant, which would load number formats (30 ms) at the start of every command.
const typesAllowed = () => `the ${formatCount(metaTypesMax)} kinds that a company may have`
const tooMany = () => `exceeds ${typesAllowed()}`

/** A listing's changes of types, in order: removals, then rows in the order read. */
const typeChanges = (db: Database, name: string, metaOf: string, companies: readonly number[]) => `
  select company_id, seq, id, was, became from (
    select g.company_id, -1 as seq, null as id, ${db.dialect.jsonMember('r.record', metaOf)} as was,
        null as became
      from removal g
      join ${recordsOf(name)} r on r.company_id = g.company_id and r.position = g.position
    union all
    select c.company_id, c.seq, c.id, ${db.dialect.jsonMember('r.record', metaOf)},
        ${db.dialect.jsonMember('s.content', metaOf)}
      from change c
      join stage s on s.seq = c.seq${db.dialect.sameCompany('s', 'c')}
      left join ${recordsOf(name)} r on r.company_id = c.company_id and r.position = c.position
  ) moved
  where company_id in (${companies.join(', ')})
  order by company_id, seq`

/** Lists the records whose changes cannot be recorded in `beyond`; false if there are none. */
async function refuseRecorded(
  db: Database,
  { resource }: Recording,
  after: number,
): Promise<boolean> {
  const { name, metaOf, changeFields } = resource
  if (metaOf === undefined) return false
  const companies = await findCandidates(
    db,
    name,
    `select company_id, count(*) as n from stage where seq > ${after} group by company_id`,
  )
  let isExceeded = false
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
    isExceeded = true
    const value = (first[changeFields?.after ?? ''] ?? null) as string | null
    const rows = await db.rows(
      `select distinct p.id from change c
       join placed p on p.seq = c.seq${db.dialect.sameCompany('p', 'c')}
       where c.company_id = ${company}`,
    )
    if (rows.length === 0) throw unrecordable(name, company)
    const refusal = { field: String(first[metaOf]), value, reason: recordedTooMany() }
    await insertBeyond(
      db,
      rows.map(({ id }) => ({ id: Number(id), ...refusal })),
    )
  }
  return isExceeded
}

const recordedTooMany = () => `would be recorded, and exceed ${typesAllowed()}`

function unrecordable(name: string, company: number): OperatorError {
  return new OperatorError(
    `changes of company ${company} cannot be recorded: its ${name} would be of more than ` +
      `${formatCount(metaTypesMax)} kinds; to record nothing, import without --as-of`,
  )
}

/**
 * The companies that could exceed the limit.
 *
 * @param additions SQL for companies and the maximum number of types added to each, `n`.
 */
async function findCandidates(db: Database, name: string, additions: string): Promise<number[]> {
  const known = `coalesce(${db.dialect.jsonLength('h.meta')}, 0)`
  const rows = await db.rows(
    `select t.company_id from (${additions}) t
     left join heads h on h.company_id = t.company_id and h.resource = '${name}'
     where t.n + ${known} > ${metaTypesMax} order by t.company_id`,
  )
  return rows.map(({ company_id: company }) => Number(company))
}

/** The types of a listing, with the number of records of each. */
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

/** Adds to the count of a type, which is removed at 0. */
function add(types: Map<string, number>, type: string | undefined, count: number): void {
  if (type === undefined) return
  const now = (types.get(type) ?? 0) + count
  if (now > 0) types.set(type, now)
  else types.delete(type)
}

function parse(type: Value | undefined): string | undefined {
  return type === null || type === undefined ? undefined : (JSON.parse(String(type)) as string)
}
