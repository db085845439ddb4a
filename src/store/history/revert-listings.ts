// Takes back what versions have changed in listings: the records of their source become those of
// the head before these versions. Records of other sources are kept.
//
// Segments never change, so where nothing else has changed since, the new head names the segments
// of that former head, and no text is read.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { OperatorError } from '../../config/operator-error.ts'
import { attributesInTurn, statementOf } from '../companies/attributes.ts'
import { createNameKeeper } from '../companies/keep-names.ts'
import { emptyDirectory } from '../listing/directory.ts'
import { keysOf, readSegments } from '../listing/open-listings.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { attributesShape, type ListingShape, metaOf } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { ListedId, ListingTables } from '../listing/tables.ts'
import { mergeListing, type PutReader } from '../listing/merge-listings.ts'
import { createOutput, type MergeContext, type Output } from '../listing/write-listings.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'
import type { OnShare } from '../work-watch.ts'
import {
  type Changes,
  type ComparedStates,
  findDifferences,
  type Pair,
  type SharedIds,
  type StateDifference,
} from './compare-states.ts'

const companiesAtOnce = 400

/** Takes back what versions have changed in the listings of a kind. */
export async function revertListings(
  db: RegistryDatabase,
  context: MergeContext,
  shape: ListingShape,
  states: ComparedStates,
  onShare: OnShare,
): Promise<Changes> {
  const { tables } = context
  const { listing } = shape
  const { source } = states
  const all: Changes = { restored: 0, updated: 0, removed: 0 }
  const out = createOutput(context, shape)
  const names = shape === attributesShape ? await createNameKeeper(db) : undefined
  const changed = await readNumbers(
    db,
    `select distinct company_id from heads
     where listing = '${listing}' and version >= ${states.first} order by company_id`,
  )
  let done = 0
  for (const companies of inBatches(changed, companiesAtOnce)) {
    const reverted: number[] = []
    const ids = { gone: [] as ListedId[], made: [] as ListedId[] }
    for await (const found of findDifferences(tables, shape, companies, states)) {
      const { companyId, changes, back, gone } = found
      if (back.size + gone.size === 0) continue
      await revertListing(context, shape, found, source, out)
      all.restored += changes.restored
      all.updated += changes.updated
      all.removed += changes.removed
      reverted.push(companyId)
      for (const id of gone) if (!back.has(id)) ids.gone.push({ id, companyId, source })
      for (const id of found.made) ids.made.push({ id, companyId, source })
    }
    await out.flush()
    if (shape !== attributesShape) await writeIds(tables, listing, ids, states)
    for await (const said of names ? attributesInTurn(tables, reverted) : []) {
      await names?.change(said)
    }
    done += companies.length
    onShare(done / changed.length)
    await nextTurn()
  }
  await names?.finish()
  return all
}

/** Makes the listing's new head. */
async function revertListing(
  context: MergeContext,
  shape: ListingShape,
  found: Pair & StateDifference,
  source: number,
  out: Output,
): Promise<void> {
  const { companyId, former, present, presentOnly, back, gone, hasOthers } = found
  // What a source says about a company is restored as of the new version.
  const isAsFormer = !hasOthers && (back.size === 0 || shape !== attributesShape)
  if (isAsFormer) {
    const meta = metaOf(shape, new Map())
    const empty = { total: 0, meta, largest: 0, directory: emptyDirectory }
    out.addHead({ ...(former ?? empty), companyId, version: context.version })
    return
  }
  const puts = readFormer(context, shape, found, (one) => one.source === source && back.has(one.id))
  const touched = new Set(presentOnly.map(({ segment }) => segment))
  const merge = { companyId, listing: present, puts, gone, touched }
  await mergeListing(context.tables, shape, merge, out)
}

/** Reads records of the former state as they are needed, in the order of the listing. */
function readFormer(
  { tables, version }: MergeContext,
  shape: ListingShape,
  { companyId, formerOnly }: Pair,
  isWanted: (record: ListedRecord) => boolean,
): PutReader {
  async function* read(): AsyncGenerator<ListedRecord, undefined> {
    for await (const { records } of readSegments(tables, shape, keysOf(companyId, formerOnly))) {
      for (const record of records) {
        if (isWanted(record)) yield shape === attributesShape ? asOf(version, record) : record
      }
    }
  }
  const records = read()
  let next: ListedRecord | undefined
  return {
    peek: async () => (next ??= (await records.next()).value),
    advance() {
      next = undefined
    },
  }
}

function asOf(version: number, record: ListedRecord): ListedRecord {
  const { saidIn } = statementOf(record)
  return { ...record, values: [version, ...record.values.slice(1, -1), saidIn] }
}

/** @throws OperatorError if another source has used one of the ids since, and is to keep it. */
async function checkTaken(
  tables: ListingTables,
  listing: string,
  made: readonly ListedId[],
  { source, shared }: ComparedStates,
): Promise<void> {
  for (const some of inBatches(made, 5_000)) {
    const ids = some.map(({ id }) => id)
    const taken = (await tables.whereListed(listing, ids)).filter((one) => one.source !== source)
    const [other] = taken
    if (other === undefined) continue
    if (shared !== undefined) {
      shared.set(listing, [...(shared.get(listing) ?? []), ...taken.map(({ id }) => id)])
      continue
    }
    const name = (await tables.sources()).get(other.source)?.name
    throw new OperatorError(
      `record ${other.id} of ${listing} cannot be restored: the source ${name} has used its id ` +
        'since; revert that import first, or everything since with --to',
    )
  }
}

/**
 * Checks that all sources together leave each record to one of them.
 *
 * @throws OperatorError if version `to`, which was one of several of a revert, did not.
 */
export async function refuseShared(
  tables: ListingTables,
  shared: SharedIds,
  to: number,
): Promise<void> {
  for (const [listing, all] of shared) {
    for (const ids of inBatches([...new Set(all)], 5_000)) {
      const places = await tables.whereListed(listing, ids)
      const sources = new Map(places.map(({ id, source }) => [id, source]))
      const one = places.find(({ id, source }) => source !== sources.get(id))
      if (one === undefined) continue
      throw new OperatorError(
        `version ${to} cannot be restored: it is one of several of a revert, in which record ` +
          `${one.id} of ${listing} has two sources; restore the one before or the last of them`,
      )
    }
  }
}

/** Writes which listings have the source's records. */
async function writeIds(
  tables: ListingTables,
  listing: string,
  { gone, made }: { readonly gone: ListedId[]; readonly made: ListedId[] },
  states: ComparedStates,
): Promise<void> {
  await checkTaken(tables, listing, made, states)
  for (const rows of [gone, made]) rows.sort((a, b) => a.id - b.id)
  for (const some of inBatches(gone, 5_000)) await tables.dropIds(listing, some)
  for (const some of inBatches(made, 5_000)) await tables.putIds(listing, some)
}
