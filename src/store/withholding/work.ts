// What a withholding works with: it rewrites listings, and notes what it has touched.

import type { Resource } from '../../resources/resource.ts'
import type { NameKeeper } from '../companies/keep-names.ts'
import type { ColumnValue, ListedRecord } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import { inBatches } from '../listing/tables.ts'
import { digestOf } from '../record-texts.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import type { Found, Hasher, OrderKind, Subject } from './list.ts'
import { type ChangedRecord, rewriteListing, type Rewriting } from './rewrite.ts'

export interface Withholding extends Rewriting {
  readonly db: RegistryDatabase
  readonly resources: readonly Resource[]
  readonly hasher: Hasher
  readonly onStep: (step: string, done: number) => void
}

/** Where an order of another registry finds what it withholds in this one. */
export interface Located {
  readonly ids: ReadonlySet<number>
  readonly companies: ReadonlySet<number>
}

/** What to withhold. */
export interface Wanted {
  readonly kind: OrderKind
  readonly subject: Subject
  /** The value of a personal field, if it is known: a list has only its hash. */
  readonly value?: string | undefined
  /** What was found before, of an order in a list. */
  readonly found?: Found
  /** Instead of the ids in its subject, of an order of another registry. */
  readonly located?: Located | undefined
}

/** A record, or what a source says, that was written anew. */
export interface Touched extends ChangedRecord {
  readonly listing: string
  readonly companyId: number
}

/** A withholding under way. */
export interface Work extends Withholding {
  readonly names: NameKeeper
  /** What it has touched so far. */
  readonly touched: Touched[]
}

export const idsAtOnce = 1_000

/** Rewrites a listing, and notes what was changed; returns that. */
export async function collect(
  work: Work,
  rewrite: Parameters<typeof rewriteListing>[1],
): Promise<readonly Touched[]> {
  const { companyId, shape } = rewrite
  const changed = [...(await rewriteListing(work, rewrite)).values()]
  const own = changed.map((record) => ({ ...record, listing: shape.listing, companyId }))
  work.touched.push(...own)
  return own
}

/** Erased records are in no present listing any more. */
export async function dropGoneIds(
  { tables }: Withholding,
  touched: readonly Touched[],
): Promise<void> {
  const gone = touched.filter(({ isPresent, isGone }) => isPresent && isGone)
  for (const [listing, rows] of Map.groupBy(gone, (one) => one.listing)) {
    for (const some of inBatches(rows, idsAtOnce)) await tables.dropIds(listing, some)
  }
}

/** What becomes of a record; undefined if it goes. */
export type Change = (record: ListedRecord) => ListedRecord | undefined

export type Fields = Readonly<Record<string, unknown>>

export function parse({ text }: ListedRecord): Fields {
  return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.length).toString()) as Fields
}

/** A record with other fields; the values of those that stay are kept. */
export function encodeRecord(
  shape: ListingShape,
  record: ListedRecord,
  fields: Fields,
  before: Fields,
): ListedRecord {
  const text = JSON.stringify(fields)
  const content = `{${text.slice(`{"id":${record.id},`.length)}`
  return {
    ...record,
    digest: Buffer.from(digestOf(content), 'base64'),
    values: shape.columns.map(({ field }, at) =>
      fields[field] === before[field]
        ? (record.values[at] ?? null)
        : (fields[field] as ColumnValue),
    ),
    text: Buffer.from(text),
  }
}

/** A company as the list names it. */
export function nameCompany(
  id: number,
  known: readonly {
    readonly id: number
    readonly jurisdiction: string | null
    readonly identifier: string | null
  }[],
  hasher: Hasher,
) {
  const { jurisdiction = null, identifier = null } = known.find((one) => one.id === id) ?? {}
  const isNamed = jurisdiction !== null && identifier !== null
  return { id, name: isNamed ? hasher('company', jurisdiction, identifier) : null }
}
