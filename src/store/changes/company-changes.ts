// Adds companies to a page of changes: those that have changed; or all, for a client that has none
// yet.

import { attributesShape } from '../listing/shape.ts'
import type { CompanyRow, ListingLookups, TraceRow } from '../listing/tables.ts'
import { createPace } from '../serving/pace.ts'
import { type CompanyTexts, readCompanyTexts } from './company-texts.ts'
import { changedListings, passedMax } from './changed-listings.ts'
import { cutByVersion } from './cut-change.ts'
import type { Reading } from './read-changes.ts'

const { listing } = attributesShape

export async function addCompanies(reading: Reading): Promise<void> {
  // Nothing was known then: a state of that version only keeps the id of an erased company.
  if (reading.span.until === 0) return
  await (reading.span.since === 0 ? addKnown(reading) : addChanged(reading))
}

/** What changes of companies have instead of a place in a company's listing. */
const ofCompanies = { listing, companyId: undefined, sorts: [] } as const

/**
 * How many companies are read at first: as many as fill a page if they are as large as can be; then
 * as many as are likely to fit, up to a maximum.
 */
const [companiesAtFirst, companiesAtOnce] = [8, 1_000]
/** How many times as many are read next, at most: the first ones may be small by chance. */
const growth = 16

/** Adds all companies that were known at the end, in the order of their ids. */
async function addKnown(reading: Reading): Promise<void> {
  const { tables, span, page } = reading
  const pace = createPace()
  let passed = 0
  for await (const states of allCompanies(reading)) {
    const present = await readCompanyTexts(reading, states, span.until)
    const traced = await lastTraces(tables, present, span.until)
    const { ids, versions, texts } = present
    const lengths = texts.map((text) => Buffer.byteLength(text))
    const joined = { ids, lengths, texts: Buffer.from(texts.join()) }
    const all = { ...ofCompanies, ...joined, kind: 'put', listingVersion: 0 } as const
    const versionOf = (n: number) => Math.max(versions[n] ?? 0, traced.get(ids[n] ?? 0) ?? 0)
    for (const change of cutByVersion(all, versionOf)) page.add(change)
    passed += states.length - ids.length
    const companyId = states.at(-1)?.id ?? 0
    if (passed > passedMax) page.cut({ listing, version: 0, companyId, record: undefined })
    if (page.isFull()) return
    await pace()
  }
}

/** The last versions, up to one, with traces that the companies' own versions do not show. */
async function lastTraces(
  tables: ListingLookups,
  { ids, versions }: CompanyTexts,
  until: number,
): Promise<ReadonlyMap<number, number>> {
  const since = Math.min(until, ...versions)
  const after = { version: since, companyId: Number.MAX_SAFE_INTEGER }
  // Usually no company has any: one row shows that, instead of one for each company.
  const first = await tables.changedTraces(listing, { since, until, after, limit: 1 })
  return first.length === 0
    ? new Map()
    : lastOf(await tables.traces(listing, ids, { since, until }))
}

/** The version of the last trace of each company. */
function lastOf(traces: readonly TraceRow[]): ReadonlyMap<number, number> {
  return new Map(traces.map(({ companyId, version }) => [companyId, version]))
}

/** The companies after those of the last page, with all states of each. */
async function* allCompanies({
  tables,
  asked,
  page,
}: Reading): AsyncGenerator<readonly CompanyRow[]> {
  const last = asked.after?.listing === listing ? asked.after.companyId : 0
  if (asked.companyId !== undefined) {
    if (asked.companyId > last) yield await tables.statesById([asked.companyId])
    return
  }
  const begin = page.left()
  for (let [after, atOnce] = [last, companiesAtFirst]; ;) {
    const limit = Math.min(atOnce, page.left().limit)
    const states = await tables.nextCompanies({ after, limit })
    yield states
    if (states.length < limit) return
    after = states.at(-1)?.id ?? after
    const left = page.left()
    const bytes = (begin.bytesMax - left.bytesMax) / Math.max(1, begin.limit - left.limit)
    const fitting = Math.ceil(left.bytesMax / Math.max(1, bytes))
    atOnce = Math.min(companiesAtOnce, growth * limit, fitting)
  }
}

function companiesOf(traces: readonly TraceRow[], kind: TraceRow['kind']): ReadonlySet<number> {
  return new Set(traces.filter((one) => one.kind === kind).map(({ companyId }) => companyId))
}

/** Adds the companies that have changed, in the order of their last changes. */
async function addChanged(reading: Reading): Promise<void> {
  const { tables, span, page } = reading
  const isKnown = span.since >= span.earliest
  for await (const changed of changedListings(reading, listing)) {
    const ids = changed.map(({ companyId }) => companyId).sort((a, b) => a - b)
    const states = await tables.statesById(ids)
    const textsAt = async (version: number) => {
      const { ids: known, texts } = await readCompanyTexts(reading, states, version)
      return new Map(known.map((id, n) => [id, texts[n]]))
    }
    const present = await textsAt(span.until)
    const former = isKnown ? await textsAt(span.since) : undefined
    const traces = await tables.traces(listing, ids, span)
    const last = lastOf(traces)
    const put = companiesOf(traces, 'put')
    const erased = companiesOf(traces, 'erase')
    for (const { companyId: id, version } of changed) {
      const text = present.get(id)
      const was = former?.get(id)
      if (text === undefined && was === undefined && isKnown && !erased.has(id)) continue
      if (text !== undefined && text === was && !put.has(id)) continue
      const bytes = text === undefined ? undefined : Buffer.from(text)
      page.add({
        ...ofCompanies,
        ids: [id],
        listingVersion: version,
        version: Math.max(version, last.get(id) ?? 0),
        kind: text !== undefined ? 'put' : erased.has(id) ? 'erase' : 'remove',
        lengths: [bytes?.length ?? 0],
        texts: bytes,
      })
      if (page.isFull()) return
    }
  }
}
