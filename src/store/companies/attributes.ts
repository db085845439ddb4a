// What sources say about companies: listings with one record a source.

import { keysOf, openListings, readSegments } from '../listing/open-listings.ts'
import { type ListedRecord, type SegmentIndex, valueAt } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type { ListingLookups } from '../listing/tables.ts'

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
  /** The version in which the source last said so; an absence or a revert says nothing. */
  readonly saidIn: number
}

/** What `is_present` says; removed: absent since an operator removed what the source had. */
const presence = { absent: 0, present: 1, removed: 2 }

/** The values of `attributesShape`'s columns. */
export function valuesOf({ version, asOf, isPresent, saidIn }: Statement, isRemoval = false) {
  const absent = isRemoval ? presence.removed : presence.absent
  const said = saidIn === version ? null : saidIn
  return [version, asOf, isPresent ? presence.present : absent, said] as const
}

/** Whether the source last had the company: that it was removed says nothing of its register. */
export function wasPresent({ values }: Pick<ListedRecord, 'values'>): boolean {
  return values[2] !== presence.absent
}

/** Whether an operator has removed what the source had. */
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

/** The same, of a record in an index. */
export function statementAt({ columns }: SegmentIndex, n: number): Statement {
  return statementOf({ values: columns.map((column) => valueAt(column, n)) })
}

/**
 * What the sources say about companies at a version, by company; those without a source are absent.
 *
 * @param version the last one if undefined.
 */
export async function readAttributes(
  tables: ListingLookups,
  companies: readonly number[],
  version?: number,
): Promise<Map<number, ListedRecord[]>> {
  const open = await openListings(tables, attributesShape.listing, companies, version)
  const said = new Map([...open.keys()].map((id) => [id, [] as ListedRecord[]]))
  const keys = [...open].flatMap(([id, { leaves }]) => keysOf(id, leaves))
  for await (const { companyId, records } of readSegments(tables, attributesShape, keys)) {
    said.get(companyId)?.push(...records)
  }
  return said
}
