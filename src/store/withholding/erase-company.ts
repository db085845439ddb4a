// Erases a company as a whole: its listings, its names, and that it was ever known.

import { readAttributes } from '../companies/attributes.ts'
import type { NameKeeper } from '../companies/keep-names.ts'
import { leavesOf, namedSegments } from '../listing/open-listings.ts'
import { decodeEntries } from '../listing/segment.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { type HeadRow, inBatches } from '../listing/tables.ts'
import type { Touched, Withholding } from './apply.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found } from './list.ts'

const segmentsAtOnce = 100
const idsAtOnce = 1_000

/** Erases a company; nothing if it is not there. */
export async function eraseCompany(
  context: Withholding,
  companyId: number,
  names: NameKeeper,
  touched: Touched[],
): Promise<Found> {
  const { tables, resources, hasher, onStep } = context
  const nothing: Found = { ids: [], keys: [], companies: [], phrases: [] }
  const [known] = await tables.companiesById([companyId])
  const past = await tables.pastCompanies([companyId])
  const shapes = [...resources.map(shapeOf), attributesShape]
  if (known === undefined && past.length === 0) return nothing
  const said = (await readAttributes(tables, [companyId])).get(companyId) ?? []
  for (const [n, shape] of shapes.entries()) {
    onStep(`withholding ${shape.listing}`, n / shapes.length)
    await eraseListing(context, shape, companyId, touched)
  }
  await names.change(companyId, said, [])
  await tables.dropCompanies([companyId])
  await tables.dropPastCompanies([companyId])
  // Its id stays its own: it was known before all versions, which no reader can ask for.
  const reserved = { jurisdiction: null, identifier: null, version: 0, until: 1 }
  await tables.putPastCompanies([{ companyId, ...reserved }])
  const called = [known, ...past].flatMap((one) =>
    one === undefined || one.jurisdiction === null || one.identifier === null
      ? []
      : [hasher('company', one.jurisdiction, one.identifier)],
  )
  const hashes = [...new Set(called)]
  const all = hashes.length === 0 ? [null] : hashes
  return { ...nothing, companies: all.map((name) => ({ id: companyId, name })) }
}

async function eraseListing(
  context: Withholding,
  shape: ListingShape,
  companyId: number,
  touched: Touched[],
): Promise<void> {
  const { tables } = context
  const { listing } = shape
  const heads = await tables.headsOf(listing, [companyId])
  if (heads.length === 0) return
  const last = heads.at(-1)
  const present = last === undefined ? [] : await noteRecords(context, shape, last, touched)
  const ids = new Set(present)
  for (const some of inBatches(present, idsAtOnce)) {
    await tables.dropIds(
      listing,
      some.map((id) => ({ id, companyId })),
    )
  }
  const named = await namedSegments(tables, heads)
  for (const segments of inBatches(named, segmentsAtOnce)) {
    const keys = segments.map((segment) => ({ companyId, segment }))
    for (const { entries, texts } of await tables.segments(keys, 'both')) {
      if (texts === null) continue
      const index = decodeEntries(shape, entries, [])
      for (const [n, id] of index.ids.entries()) {
        if (ids.has(id)) continue
        ids.add(id)
        // A client that got a former record, and not yet its removal, must not keep it.
        if (shape === attributesShape) continue
        const record = { id, sort: index.sorts[n] ?? 0, isPresent: false, isGone: true, states: 1 }
        touched.push({ ...record, listing, companyId })
      }
    }
    await tables.dropSegments(keys)
  }
  if (shape !== attributesShape) await hideKeys(context, listing, ids)
  await tables.dropHeads(listing, heads)
}

/** Adds the present records of a listing to what is touched, and returns their ids. */
async function noteRecords(
  { tables }: Withholding,
  shape: ListingShape,
  head: HeadRow,
  touched: Touched[],
): Promise<number[]> {
  const { companyId } = head
  const ids: number[] = []
  const leaves = await leavesOf(tables, head)
  for (const some of inBatches(leaves, segmentsAtOnce)) {
    const numbers = some.map(({ segment }) => segment)
    for (const entries of await tables.entries(companyId, numbers)) {
      const index = decodeEntries(shape, entries, [])
      for (const [n, id] of index.ids.entries()) {
        const record = { id, sort: index.sorts[n] ?? 0, isPresent: true, isGone: true, states: 1 }
        touched.push({ ...record, listing: shape.listing, companyId })
        ids.push(id)
      }
    }
  }
  return ids
}
