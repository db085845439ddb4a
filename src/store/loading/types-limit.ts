// Limits the number of types in a company's `meta` (contract 3.7), both for imported records and
// for recorded changes, before anything is written.
//
// Where the new and the present types of a listing could exceed the limit, its rows are counted in
// the order read, as if each were an import of its own: a row that would add a type too many is
// refused, with all rows of its record.

import { metaTypesMax } from '../../resources/resource.ts'
import { formatCount } from '../../text/format-count.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { Recording } from '../importing.ts'
import { addToCount, parseMeta } from '../listing/shape.ts'
import type { ListingTables } from '../listing/tables.ts'
import { versionMax } from '../listing/open-listings.ts'
import type { ImportContext } from './context.ts'
import { fieldsIn } from './staging/put-reader.ts'
import type { Staging } from './staging/staging.ts'

/** A record that is refused with all its rows; its id, or that of a company being imported. */
interface Beyond {
  readonly id: number
  readonly field: string
  readonly value: string | null
  readonly reason: string
}

export const createBeyond =
  'create table if not exists beyond (id integer, field text, value text, reason text)'

function insertBeyond(staging: Staging, row: Beyond): void {
  staging.run('insert into beyond values ($id, $field, $value, $reason)', { ...row })
}

/**
 * Lists the records that would add a type too many in `beyond`.
 *
 * @param crowded the companies that may have too many.
 * @returns false if there are none.
 */
export async function refuseTypes(
  { staging, tables, plan }: ImportContext,
  crowded: readonly number[],
): Promise<boolean> {
  const { name, resource } = plan.target
  const metaOf = resource?.metaOf
  if (metaOf === undefined) return false
  let isExceeded = false
  for (const company of crowded) {
    const types = await readTypes(tables, name, company)
    const known = types.size
    const moves = movesOf(staging, company, metaOf)
    const after = new Map(types)
    for (const { was, became } of moves) {
      addToCount(after, was, -1)
      addToCount(after, became, 1)
    }
    if (after.size <= Math.max(metaTypesMax, known)) continue
    isExceeded = true
    for (const { id, was, became: value } of moves) {
      if (replace(types, was, value)) continue
      insertBeyond(staging, { id, field: metaOf, value, reason: tooMany() })
    }
  }
  return isExceeded
}

interface Move {
  readonly id: number
  readonly was: string | null
  readonly became: string | null
}

/** The types of the records that change in a company, those that go first. */
function movesOf(staging: Staging, company: number, metaOf: string): readonly Move[] {
  const gone = staging.rows('select id, was from removal where company_id = ?', company)
  const moves = gone.map(([id, was]): Move => {
    return { id: Number(id), was: was as string | null, became: null }
  })
  const changed = staging.iterate(
    `select c.id, c.was, s.at, s.length from change c join stage s on s.seq = c.seq
     where c.company_id = ? order by c.seq`,
    company,
  )
  const places = Iterator.from(changed).map(([id, was, at, length]) => ({
    ...{ id: Number(id), was: was as string | null },
    ...{ at: Number(at), length: Number(length) },
  }))
  for (const [{ id, was }, row] of staging.spool.read(places)) {
    moves.push({ id, was, became: fieldsIn(row)[metaOf] as string | null })
  }
  return moves
}

/** Replaces a record's type; if the new one is too many, changes nothing and returns false. */
function replace(types: Map<string, number>, before: string | null, after: string | null): boolean {
  const size = types.size
  addToCount(types, before, -1)
  const isNew = typeof after === 'string' && !types.has(after)
  const isFull = types.size >= Math.max(metaTypesMax, size)
  addToCount(types, isNew && isFull ? before : after, 1)
  return !(isNew && isFull)
}

// Not a constant, which would load number formats (30 ms) at the start of every command.
const typesAllowed = () => `the ${formatCount(metaTypesMax)} kinds that a company may have`
const tooMany = () => `exceeds ${typesAllowed()}`

/** Lists the records whose changes cannot be recorded in `beyond`; false if there are none. */
export async function refuseRecorded(
  { staging, tables }: ImportContext,
  { resource }: Recording,
): Promise<boolean> {
  const { name, metaOf, changeFields } = resource
  const after = staging.staged()
  if (metaOf === undefined) return false
  let isExceeded = false
  for (const company of await crowdedByRecords(staging, tables, name, after)) {
    const types = await readTypes(tables, name, company)
    const limit = Math.max(metaTypesMax, types.size)
    let first: Readonly<Record<string, unknown>> | undefined
    const places = staging
      .rows(
        'select at, length from stage where seq > ? and company_id = ? order by seq',
        after,
        company,
      )
      .map(([at, length]) => ({ at: Number(at), length: Number(length) }))
    for (const [, row] of staging.spool.read(places)) {
      const record = fieldsIn(row)
      addToCount(types, String(record[metaOf]), 1)
      if (types.size > limit) first ??= record
    }
    if (first === undefined) continue
    isExceeded = true
    const value = (first[changeFields?.after ?? ''] ?? null) as string | null
    const rows = staging.rows('select distinct id from change where company_id = ?', company)
    if (rows.length === 0) throw unrecordable(name, company)
    const refusal = { field: String(first[metaOf]), value, reason: recordedTooMany() }
    for (const [id] of rows) insertBeyond(staging, { id: Number(id), ...refusal })
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

/** The companies whose types could become too many by the rows after row `after`. */
async function crowdedByRecords(
  staging: Staging,
  tables: ListingTables,
  name: string,
  after: number,
): Promise<number[]> {
  const rows = staging.rows(
    'select company_id, count(*) from stage where seq > ? group by company_id order by company_id',
    after,
  )
  const crowded: number[] = []
  for (let at = 0; at < rows.length; at += 500) {
    const some = new Map(rows.slice(at, at + 500).map(([id, n]) => [Number(id), Number(n)]))
    const known = new Map<number, number>()
    for (const head of await tables.heads(name, [...some.keys()], versionMax)) {
      known.set(head.companyId, parseMeta(head.meta ?? '[]').size)
    }
    for (const [company, n] of some) {
      if (n + (known.get(company) ?? 0) > metaTypesMax) crowded.push(company)
    }
  }
  return crowded
}

/** The types of a listing, with the number of records of each. */
async function readTypes(
  tables: ListingTables,
  name: string,
  company: number,
): Promise<Map<string, number>> {
  const [head] = await tables.heads(name, [company], versionMax)
  return parseMeta(head?.meta ?? '[]')
}
