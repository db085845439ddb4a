// Withholds something in a store, in one transaction: in the present and in every past version.

import type { Resource } from '../../resources/resource.ts'
import { attributesInTurn } from '../companies/attributes.ts'
import { createNameKeeper } from '../companies/keep-names.ts'
import { attributesShape, shapeOf } from '../listing/shape.ts'
import type { CompanyRow } from '../listing/tables.ts'
import { numberSegments } from '../listing/write-listings.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { drawLineage, nextVersion } from '../sql/import-log.ts'
import type { WorkWatch } from '../work-watch.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found, OrderKind, Subject } from './list/entries.ts'
import { hashNames, type Hasher } from './list/hashes.ts'
import { findUnsaid, forgetInLog, loggedAttributes, logWithholding } from './log.ts'
import { createHidePhrases, phrasesOf } from './phrases.ts'
import { rewriteListing, type Rewriting } from './rewrite.ts'
import { type AllTouched, companiesTouched, createTouched } from './touched.ts'
import { type FoundIn, withholdRecords, withoutOthers } from './withhold-records.ts'
import { hideInCompanies } from './withhold-texts.ts'

/** A withholding under way. */
export interface Work extends Rewriting {
  readonly db: RegistryDatabase
  readonly resources: readonly Resource[]
  readonly hasher: Hasher
  readonly onStep: (step: string, done: number) => void
}

/** Where this registry has what an order names by name, or what another registry's order means. */
export interface Located {
  readonly ids: ReadonlySet<number>
  readonly companies: ReadonlySet<number>
}

/** What to withhold. */
export interface Wanted {
  readonly kind: OrderKind
  readonly subject: Subject
  /** The value of a personal field, or a text, if it is known: a list has only its hash. */
  readonly value?: string | undefined
  /**
   * What was found before: by the same order of a list, or by earlier ones that masked its value.
   */
  readonly found?: Found
  /** Replaces the ids in its subject. */
  readonly located?: Located | undefined
  /** The companies that have or had what an order on a value means, which a list cannot tell. */
  readonly candidates?: ReadonlySet<number> | undefined
  /** Where an import has found it: its records, and the companies that have or had them. */
  readonly later?: { readonly ids: ReadonlySet<number>; readonly companies: readonly number[] }
}

export interface Applied {
  readonly found: Found
  readonly touched: AllTouched
  /** How many companies have got another name, or lost theirs. */
  readonly names: number
  /** The version in which it was done; undefined if there was nothing to withhold. */
  readonly version: number | undefined
}

export interface Course extends WorkWatch {
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

/** Does what an order says, as a version of its own. */
export async function applyOrder(
  context: Pick<Work, 'db' | 'resources' | 'hasher'>,
  wanted: Wanted,
  { startedAt, signal, onStep }: Course,
): Promise<Applied> {
  const { db } = context
  const { tables } = db
  const touched = createTouched()
  const lineage = await drawLineage(db)
  const numbers = await numberSegments(tables)
  const version = await nextVersion(db)
  const work: Work = {
    ...context,
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
  const erasing = 'company' in subject ? companiesOf(wanted) : []
  const former = await tables.statesById(erasing)
  const found = await withholdSubject(work, wanted, former)
  await numbers.note()
  const names = await keepNames(work)
  const isThere = touched.length + found.ids.length + found.companies.length > 0
  const erased = new Set(former.map(({ id }) => id))
  const done = { found, touched, names }
  if (!isThere) return { ...done, version: undefined }
  const lost = await findUnsaid(tables, erasing.length === 0 ? [] : await loggedAttributes(db))
  await forgetInLog(work, subject, found.phrases, lost)
  // Before the first import, there is no state to log.
  if (version === 1) return { ...done, version: 0 }
  await logWithholding(db, { version, touched, erased, subject, startedAt, lineage })
  return { ...done, version }
}

/** @param former the names of the companies that are erased. */
async function withholdSubject(
  work: Work,
  wanted: Wanted,
  former: readonly CompanyRow[],
): Promise<Found> {
  const { subject } = wanted
  if ('company' in subject) {
    // A restored backup may be from before such a company, or have another one with its id.
    const ids = (wanted.found?.companies ?? []).map(({ id }) => id)
    const taken = new Set((await work.tables.statesById(ids)).map(({ id }) => id))
    const free = ids.filter((id) => id > 0 && !taken.has(id))
    return { ids: [], keys: [], phrases: [], companies: await eraseCompanies(work, former, free) }
  }
  const found =
    'textOf' in subject
      ? await hideText(work, wanted, companiesOf(wanted))
      : await withholdRecords(work, { ...wanted, subject })
  return { ...found, companies: await nameCompanies(work, found.companies) }
}

/** The companies that an order means: several, if others had the name of this one. */
const companiesOf = ({ located }: Wanted): readonly number[] => [...(located?.companies ?? [])]

/** Brings the names of companies up to date; returns how many have changed. */
async function keepNames({ db, tables, touched }: Work): Promise<number> {
  const names = await createNameKeeper(db)
  const said = touched.values().filter(({ listing }) => listing === attributesShape.listing)
  const companies = [...new Set(said.map(({ companyId }) => companyId))]
  for await (const now of attributesInTurn(tables, companies)) await names.change(now)
  return names.finish()
}

/**
 * Erases companies as a whole: their listings, their names, and all traces that they were known.
 *
 * @param names their present and past names.
 * @param reserved the ids that no other company may get.
 */
async function eraseCompanies(
  work: Work,
  names: readonly CompanyRow[],
  reserved: readonly number[],
): Promise<Found['companies']> {
  const { tables, resources, onStep } = work
  const shapes = [...resources.map(shapeOf), attributesShape]
  const companies = [...new Set(names.map(({ id }) => id))]
  for (const companyId of new Set([...companies, ...reserved])) {
    for (const [n, shape] of shapes.entries()) {
      const { listing } = shape
      onStep(`withholding ${listing}`, n / shapes.length)
      const gone = await rewriteListing(work, { shape, companyId, change: () => undefined })
      // Of what was removed before all kept versions, only natural keys are left.
      const before = await tables.traces(listing, [companyId], { since: 0, until: work.version })
      for (const rows of [gone, before.values()]) {
        const ids = rows.map(({ id }) => id)
        const own = withoutOthers(work, listing, ids)
        for await (const ids of own) await hideKeys(work, listing, ids)
      }
      await tables.dropHeads(listing, await tables.headsOf(listing, [companyId]))
    }
    await tables.dropCompanies([companyId])
    // The id stays reserved, by a past state before all versions, which no reader can ask for.
    const reserved = { jurisdiction: null, identifier: null, since: 0, version: 0, until: 1 }
    await tables.putCompanies([{ id: companyId, ...reserved }])
  }
  return listed(work, companies, names)
}

/** Hides a text in companies. */
async function hideText(
  work: Work,
  { kind, value, found }: Wanted,
  companies: Iterable<number>,
): Promise<FoundIn> {
  const { hasher, touched } = work
  const phrases = found?.phrases ?? phrasesOf([value ?? ''], hasher)
  const hidePhrases = createHidePhrases(phrases, hasher)
  await hideInCompanies(work, new Set(companies), { kind, hidePhrases })
  return { ids: [], keys: [], phrases, companies: companiesTouched(touched) }
}

/** Companies as the list names them. */
export async function nameCompanies(
  work: Pick<Work, 'tables' | 'hasher'>,
  companies: Iterable<number>,
): Promise<Found['companies']> {
  const ids = [...new Set(companies)]
  return listed(work, ids, await work.tables.statesById(ids))
}

/** @param names the present and past names of the companies. */
function listed(
  { hasher }: Pick<Work, 'hasher'>,
  ids: readonly number[],
  names: readonly CompanyRow[],
): Found['companies'] {
  const hashes = hashNames(hasher, names)
  return ids.flatMap((id) => (hashes.get(id) ?? [null]).map((name) => ({ id, name })))
}
