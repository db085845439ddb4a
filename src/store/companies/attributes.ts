// What sources say about companies: listings with one record for each source.

import { keysOf, openListings, readSegments } from '../listing/open-listings.ts'
import { type ListedRecord, type SegmentIndex, valueAt } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type { ListingLookups } from '../listing/tables.ts'
import { inBatches } from '../listing/in-batches.ts'

/** What a source says about a company, besides the attributes themselves. */
export interface Statement {
  /** The version in which this was last changed. */
  readonly version: number
  /** The day since which the source has said so, in wire form. */
  readonly asOf: string | null
  /**
   * False if the source's last snapshot lacked the company, or it was removed with the source: the
   * attributes are its last ones.
   */
  readonly isPresent: boolean
  /** The version in which the source last said so; absences and reverts do not count. */
  readonly saidIn: number
}

/** The values of `is_present`; removed: absent because an operator removed the source's data. */
const presence = { absent: 0, present: 1, removed: 2 }

/** The values of `attributesShape`'s columns. */
export function valuesOf({ version, asOf, isPresent, saidIn }: Statement, isRemoval = false) {
  const absent = isRemoval ? presence.removed : presence.absent
  const said = saidIn === version ? null : saidIn
  return [version, asOf, isPresent ? presence.present : absent, said] as const
}

/** Whether the source had the company last; its removal by an operator does not count. */
export function wasPresent({ values }: Pick<ListedRecord, 'values'>): boolean {
  return values[2] !== presence.absent
}

/** Whether an operator has removed the source's data. */
export function wasRemoved({ values }: Pick<ListedRecord, 'values'>): boolean {
  return values[2] === presence.removed
}

export function statementOf({ values }: Pick<ListedRecord, 'values'>): Statement {
  const [version, asOf, isPresent, saidIn] = values
  return {
    version: Number(version),
    asOf: asOf === null ? null : String(asOf),
    isPresent: isPresent === presence.present,
    saidIn: Number(saidIn ?? version),
  }
}

export function statementAt({ columns }: SegmentIndex, n: number): Statement {
  return statementOf({ values: columns.map((column) => valueAt(column, n)) })
}

/** What sources say about companies, by company: nothing about one that no source names. */
export type Said = ReadonlyMap<number, readonly ListedRecord[]>

/** The bytes of attributes that are read at a time. */
const bytesAtOnce = 4_194_304

/**
 * What sources say about companies, as many at a time as fit into memory, in the order given.
 *
 * @param version the last one if undefined.
 */
export async function* attributesInTurn(
  tables: ListingLookups,
  companies: readonly number[],
  version?: number,
): AsyncGenerator<Said> {
  const open = await openListings(tables, attributesShape.listing, companies, version)
  const leavesOf = (id: number) => open.get(id)?.leaves ?? []
  const bytesOf = (id: number) => leavesOf(id).reduce((sum, { bytes }) => sum + bytes, 0)
  for (const some of inBatches(companies, companies.length, bytesOf, bytesAtOnce)) {
    const said = new Map(some.map((id) => [id, [] as ListedRecord[]]))
    const keys = some.flatMap((id) => keysOf(id, leavesOf(id)))
    for await (const { companyId, records } of readSegments(tables, attributesShape, keys)) {
      said.get(companyId)?.push(...records)
    }
    yield said
  }
}

/** What sources say about a few companies, as `attributesInTurn`. */
export async function readAttributes(...asked: Parameters<typeof attributesInTurn>): Promise<Said> {
  const parts = await Array.fromAsync(attributesInTurn(...asked))
  return new Map(parts.flatMap((said) => [...said]))
}
