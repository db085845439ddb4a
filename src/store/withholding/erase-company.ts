// Erases a company as a whole: its listings, its names, and that it was ever known.

import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/tables.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found } from './list.ts'
import { rewriteListing } from './rewrite.ts'
import { idsAtOnce, type Work } from './work.ts'

/** Erases a company, and returns what it was called; nothing if it is not there. */
export async function eraseCompany(work: Work, companyId: number): Promise<Found['companies']> {
  const { tables, resources, hasher, names, onStep } = work
  const [known] = await tables.companiesById([companyId])
  const past = await tables.pastCompanies([companyId])
  const shapes = [...resources.map(shapeOf), attributesShape]
  if (known === undefined && past.length === 0) return []
  for (const [n, shape] of shapes.entries()) {
    onStep(`withholding ${shape.listing}`, n / shapes.length)
    await eraseListing(work, shape, companyId)
  }
  await names.change(companyId, [])
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
  return all.map((name) => ({ id: companyId, name }))
}

/** Takes all records out of a listing, and the heads that have none then. */
async function eraseListing(work: Work, shape: ListingShape, companyId: number): Promise<void> {
  const { tables, touched } = work
  const { listing } = shape
  const gone = await rewriteListing(work, { shape, companyId, change: () => undefined })
  const present: number[] = []
  for (const { id, sort, isPresent } of gone.values()) {
    if (isPresent) present.push(id)
    // A client that got a former record, and not yet its removal, must not keep it.
    else if (shape === attributesShape) continue
    touched.push({ id, sort, isPresent, isGone: true, states: 1, listing, companyId })
  }
  for (const some of inBatches(present, idsAtOnce)) {
    await tables.dropIds(
      listing,
      some.map((id) => ({ id, companyId })),
    )
  }
  if (shape !== attributesShape) await hideKeys(work, listing, gone.keys())
  await tables.dropHeads(listing, await tables.headsOf(listing, [companyId]))
}
