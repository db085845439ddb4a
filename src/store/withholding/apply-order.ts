// Withholds something in a store, in one transaction: in the present and in every past version.

import type { Resource } from '../../resources/resource.ts'
import { attributesInTurn } from '../companies/attributes.ts'
import { createNameKeeper } from '../companies/keep-names.ts'
import { attributesShape, shapeOf } from '../listing/shape.ts'
import type { TraceRow } from '../listing/tables.ts'
import { numberSegments } from '../listing/write-listings.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { drawLineage, nextVersion } from '../sql/import-log.ts'
import type { WorkWatch } from '../work-watch.ts'
import { hideKeys } from './hide-keys.ts'
import { type Hasher, listCompanies } from './list/hashes.ts'
import { type Found, nothingFound, type OrderKind, type Subject } from './list/entries.ts'
import { forgetInLog, logWithholding } from './log.ts'
import { rewriteListing, type Rewriting } from './rewrite.ts'
import { type AllTouched, companiesTouched, createTouched } from './touched.ts'
import { type People, withholdRecords, withoutOthers } from './withhold-records.ts'
import { hideInCompanies } from './withhold-texts.ts'

/** Where something is withheld. */
export interface Registry {
  readonly db: RegistryDatabase
  readonly resources: readonly Resource[]
  readonly hasher: Hasher
}

/** A withholding under way. */
export interface Work extends Registry, Rewriting {
  readonly onStep: (step: string, done: number) => void
}

/** The records and companies of a registry that an order is known to mean. */
export interface Here {
  readonly ids: ReadonlySet<number>
  readonly companies: ReadonlySet<number>
}

/** What to withhold, as an operator asks for it, or as the list has it. */
export interface Wanted extends Here {
  readonly kind: OrderKind
  readonly subject: Subject
  /** What the list knows of it. */
  readonly found: Found
  /** Whether records are meant in every state, rather than in those that show the same person. */
  readonly isByIds: boolean
  /** The value of a personal field, as an operator gives it: a list has only its hash. */
  readonly value?: string
  /** The companies to look through for records, if these are not searched by value or id. */
  readonly candidates?: ReadonlySet<number>
  /** Whom an order on a value means, if that was found before. */
  readonly people?: People | undefined
}

export interface Applied {
  readonly found: Found
  readonly touched: AllTouched
  /** How many companies have got another name, or lost theirs. */
  readonly names: number
  /** How many companies were erased, with their data or without any. */
  readonly companies: number
  /** The version in which it was done; undefined if there was nothing to withhold. */
  readonly version: number | undefined
}

export interface Course extends WorkWatch {
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

/** Does what an order says, as a version of its own. */
export async function applyOrder(
  registry: Registry,
  wanted: Wanted,
  { startedAt, signal, onStep }: Course,
): Promise<Applied> {
  const { db } = registry
  const { tables } = db
  const touched = createTouched()
  const lineage = await drawLineage(db)
  const numbers = await numberSegments(tables)
  const version = await nextVersion(db)
  const work: Work = {
    ...registry,
    tables,
    touched,
    lineage,
    numbers,
    version,
    onStep(step, done) {
      signal?.throwIfAborted()
      onStep?.(step, done)
    },
  }
  const { subject } = wanted
  const erasing = 'company' in subject ? await tables.statesById([...wanted.companies]) : []
  const erased = new Set(erasing.map(({ id }) => id))
  const found = await withholdSubject(work, wanted, erased)
  await numbers.note()
  const names = await keepNames(work)
  const done = { found, touched, names, companies: erased.size }
  const isThere = touched.length + found.ids.length + found.companies.length > 0
  if (!isThere) return { ...done, version: undefined }
  await forgetInLog(work, subject, found.phrases)
  // Before the first import, there is no state to log.
  if (version === 1) return { ...done, version: 0 }
  await logWithholding(db, { version, touched, erased, subject, startedAt, lineage })
  return { ...done, version }
}

/** @param erased the companies to erase that are or were in the registry. */
async function withholdSubject(
  work: Work,
  wanted: Wanted,
  erased: ReadonlySet<number>,
): Promise<Found> {
  const { tables, hasher, touched } = work
  const { kind, subject, companies } = wanted
  if ('resource' in subject) return withholdRecords(work, { ...wanted, subject })
  const { phrases } = wanted.found
  if ('textOf' in subject) {
    await hideInCompanies(work, companies, kind, phrases)
    const having = await listCompanies(tables, hasher, companiesTouched(touched))
    return { ...nothingFound, phrases, companies: having }
  }
  const listed = await listCompanies(tables, hasher, erased)
  // A restored backup may be from before such a company, or have another one with its id.
  const ids = wanted.found.companies.map(({ id }) => id)
  const taken = new Set((await tables.statesById(ids)).map(({ id }) => id))
  const reserved = ids.filter((id) => id > 0 && !taken.has(id))
  for (const companyId of new Set([...erased, ...reserved])) await eraseCompany(work, companyId)
  return { ...nothingFound, companies: listed }
}

/** Brings the names of companies up to date; returns how many have changed. */
async function keepNames({ db, tables, touched }: Work): Promise<number> {
  const names = await createNameKeeper(db)
  const said = touched.values().filter(({ listing }) => listing === attributesShape.listing)
  const companies = [...new Set(said.map(({ companyId }) => companyId))]
  for await (const now of attributesInTurn(tables, companies)) await names.change(now)
  return names.finish()
}

/** Erases a company as a whole: its listings, its names, and all traces that it was known. */
async function eraseCompany(work: Work, companyId: number): Promise<void> {
  const { tables, resources, onStep } = work
  const shapes = [...resources.map(shapeOf), attributesShape]
  for (const [n, shape] of shapes.entries()) {
    const { listing } = shape
    onStep(`withholding ${listing}`, n / shapes.length)
    const gone = await rewriteListing(work, { shape, companyId, change: () => undefined })
    // Of what was removed before all kept versions, only natural keys are left.
    const before = await tables.traces(listing, [companyId], { since: 0, until: work.version })
    for (const rows of [gone, before.values()]) {
      const ids = rows.map(({ id }) => id)
      for await (const own of withoutOthers(work, listing, ids)) await hideKeys(work, listing, own)
    }
    await tables.dropHeads(listing, await tables.headsOf(listing, [companyId]))
    await tables.putTraces(listing, erasedAgain(work, before))
  }
  await tables.dropCompanies([companyId])
  // The id stays reserved, by a past state before all versions, which no reader can ask for.
  const reserved = { jurisdiction: null, identifier: null, since: 0, version: 0, until: 1 }
  await tables.putCompanies([{ id: companyId, ...reserved }])
}

/**
 * Traces of the erasure of records that were removed before. Without heads, a listing is at another
 * place among the changes, which a client within them may have passed.
 */
function erasedAgain({ version }: Work, before: readonly TraceRow[]): readonly TraceRow[] {
  const rows = before.map((one): TraceRow => ({ ...one, version, kind: 'erase' }))
  return [...new Map(rows.map((one) => [one.id, one])).values()]
}
