// Compares a company at two versions: what sources say, and the listings that have changed.

import type {
  ChangesAnswer,
  Company,
  CompanyAnswer,
  KeyAnswer,
  ListingSummary,
} from '../answers.ts'
import { ask, type AskOptions, Failure, keyPath } from '../api.ts'
import { type Differences, differencesOf } from './differences.ts'
import { companyPath } from '../listing/listing-query.ts'
import { loadAll, loadedMax } from '../listing/load-all.ts'
import { type ResourceDescription, resources, type Row } from '../resources.ts'
import { texts } from '../texts.ts'
import type { Work } from '../use-answer.ts'

export interface ListingDifferences {
  readonly resource: ResourceDescription
  /** Undefined if there are too many records to compare, or the key may not read them. */
  readonly differences: Differences | undefined
  readonly isForbidden?: boolean
  /** Whether records listed as new may have been there before, with other values. */
  readonly isUnsure?: boolean
}

/** What sources say, compared like a listing: a record for each. */
export const sourcesResource: ResourceDescription = {
  name: '',
  title: '',
  description: '',
  fields: [],
  order: { by: 'id', direction: 'ascending' },
}

function sourceRows(company: Company | undefined): Row[] {
  return (company?.sources ?? []).map(({ source, present, attributes }) => ({
    ...attributes,
    [texts.presence]: present ? texts.yes : texts.noLonger,
    id: source,
  }))
}

/** A listing that differs between two versions. */
interface Span {
  readonly id: string
  readonly resource: ResourceDescription
  readonly from: string
  readonly to: string
  /** Undefined if the company was not known yet. */
  readonly earlier: ListingSummary | undefined
  readonly later: ListingSummary
}

/** Compares the listings that have changed, which the company's answers name. */
export function compareVersions(
  id: string,
  from: string,
  to: string,
): Work<readonly ListingDifferences[]> {
  return async (signal, onWait) => {
    const options = { signal, onWait }
    const companyAt = async (version: string): Promise<Company> => {
      const path = companyPath(id, new URLSearchParams({ version }))
      return (await ask<CompanyAnswer>(path, options)).body.company
    }
    const [earlier, later, key] = await Promise.all([
      companyAt(from).catch((error: unknown) => {
        const isMissing = error instanceof Failure && error.kind === 'missing'
        // A company that was not known yet had no records.
        if (isMissing && Number(from) < Number(to)) return undefined
        throw error
      }),
      companyAt(to),
      ask<KeyAnswer>(keyPath, options),
    ])
    const isTold = key.body.key.scopes.includes('changes')
    const ofSources = differencesOf(sourceRows(earlier), sourceRows(later))
    const compared: ListingDifferences[] = [{ resource: sourcesResource, differences: ofSources }]
    for (const resource of resources) {
      const [before, listing] = [earlier, later].map((one) => one?.listings[resource.name])
      if (listing === undefined) {
        compared.push({ resource, differences: undefined, isForbidden: true })
        continue
      }
      if (before?.version === listing.version) continue
      const span = { id, resource, from, to, earlier: before, later: listing }
      compared.push(await (isTold ? compareTold : compareAll)(span, options))
    }
    return compared
  }
}

/** Loads both states, for keys that may not ask for changes. */
async function compareAll(span: Span, options: AskOptions): Promise<ListingDifferences> {
  const { id, resource, from, to, earlier, later } = span
  if (Math.max(earlier?.total ?? 0, later.total) > loadedMax) {
    return { resource, differences: undefined }
  }
  const rowsAt = async (version: string) =>
    (await loadAll(id, resource, new URLSearchParams({ version }), options)).rows
  const [then, now] = await Promise.all([earlier === undefined ? [] : rowsAt(from), rowsAt(to)])
  return { resource, differences: differencesOf(then, now) }
}

/** Asks for the changes; the former records are loaded only if some were changed or removed. */
async function compareTold(span: Span, options: AskOptions): Promise<ListingDifferences> {
  const { id, resource, from, earlier, later } = span
  const told = await askChanges(span, options)
  if (told === undefined) return { resource, differences: undefined }
  const puts = told.flatMap(({ record }) => (record === null ? [] : [record]))
  const gone = told.flatMap((one) => (one.record === null ? [{ id: one.id }] : []))
  const former = earlier?.total ?? 0
  const areNew = former - gone.length + puts.length === later.total
  if ((areNew && gone.length === 0) || former > loadedMax) {
    return { resource, differences: { added: puts, removed: gone, changed: [] }, isUnsure: !areNew }
  }
  const ids = new Set<unknown>(told.map((one) => one.id))
  const then = await loadAll(id, resource, new URLSearchParams({ version: from }), options)
  const rows = then.rows.filter((row) => ids.has(row['id']))
  return { resource, differences: differencesOf(rows, puts) }
}

/** What has changed in a listing; undefined if that is too much to show. */
async function askChanges(
  { id, resource, from, to, earlier, later }: Span,
  options: AskOptions,
): Promise<ChangesAnswer['changes'] | undefined> {
  // Not asked if the totals already show that.
  if (Math.abs(later.total - (earlier?.total ?? 0)) > loadedMax) return undefined
  const query = { until: to, resource: resource.name, company_id: id, limit: '1000' }
  const told: ChangesAnswer['changes'][number][] = []
  for (let after: string | null = from; after !== null;) {
    if (told.length >= loadedMax) return undefined
    const path: string = `changes?${new URLSearchParams({ ...query, after }).toString()}`
    const { body }: { body: ChangesAnswer } = await ask<ChangesAnswer>(path, options)
    told.push(...body.changes)
    after = body.next
  }
  return told
}
