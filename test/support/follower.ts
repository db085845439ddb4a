// A client that keeps a copy of a registry by its changes, and what the registry itself has.

import assert from 'node:assert/strict'
import { resources } from '../../src/resources/index.ts'
import type { Change, ChangesPlace, HistoryPoint } from '../../src/store/changes.ts'
import { companyMembers } from '../../src/store/companies/company-text.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { query } from './import-rows.ts'
import { wholeListing } from '../../src/store/selection.ts'

/** Records as they are served, by listing, company and id; companies among them. */
export type Copy = Map<string, string>

const keyOf = (listing: string, company: number, id: number) => `${listing} ${company} ${id}`

/** What is served of companies at a version, less the listings of a company. */
export async function readServed(
  reader: StoreReader,
  companies: readonly number[],
  version: number,
): Promise<Copy> {
  const served: Copy = new Map()
  for (const companyId of companies) {
    const state = await reader.readCompany({ companyId, version, resources: [] })
    if (state === undefined) continue
    assert.ok(!('outside' in state), JSON.stringify(state))
    const members = companyMembers(state.company, state.sources ?? [])
    served.set(keyOf('companies', companyId, companyId), `{${members}}`)
    for (const resource of resources) {
      const selection = { ...wholeListing(resource, companyId), version }
      const page = await reader.readPage(selection, 0, 1_000)
      assert.ok(page !== undefined && !('outside' in page))
      const texts = page.records.map((one) => Buffer.from(one).toString()).join(',')
      for (const record of JSON.parse(`[${texts}]`) as { id: number }[]) {
        served.set(keyOf(resource.name, companyId, record.id), JSON.stringify(record))
      }
    }
  }
  return served
}

/** A change that a follower got. */
export interface Told {
  readonly key: string
  readonly kind: string
  readonly version: number
  readonly text: string | undefined
}

function recordsOf(change: Change): readonly Told[] {
  const { listing, companyId, ids, kind, version, lengths, texts } = change
  let at = 0
  return Array.from(ids, (id, n) => {
    const end = at + (lengths[n] ?? 0)
    const text = texts && Buffer.from(texts.subarray(at, end)).toString()
    at = end + 1
    return { key: keyOf(listing, companyId ?? id, id), kind, version, text }
  })
}

/** A batch under way: what it got since a version, and where it goes on. */
interface Batch {
  readonly until: HistoryPoint | undefined
  readonly place: ChangesPlace | undefined
  readonly told: readonly Told[]
}

const start: HistoryPoint = { version: 0, lineage: '', committedAt: undefined }
const none: Batch = { until: undefined, place: undefined, told: [] }

export function createFollower() {
  let copy: Copy = new Map()
  let since = start
  let batch = none
  return {
    copy: () => copy,
    since: () => since,
    /**
     * Reads one page; applies the batch if that was its last one.
     *
     * @param to the version up to which it reads; the last one if undefined.
     * @returns the batch and its version, if it was applied; `pruned` if it has to begin again.
     */
    async step(reader: StoreReader, limit: number, to?: number) {
      const named = to === undefined ? undefined : { version: to, lineage: undefined }
      const page = await reader.readChanges({
        since,
        until: batch.until ?? named,
        after: batch.place,
        hasCompanies: true,
        resources,
        companyId: undefined,
        limit,
      })
      if ('none' in page) {
        // What was read of a history that a restored backup has ended is forgotten.
        if (page.none === 'elsewhere') [copy, since] = [new Map(), start]
        else assert.equal(page.none, 'pruned')
        batch = none
        return 'pruned' as const
      }
      const records = page.changes.flatMap(recordsOf)
      assert.ok(records.length <= limit)
      const told = [...batch.told, ...records]
      batch = { until: page.until, place: page.next, told }
      if (page.next !== undefined) return undefined
      const next = new Map(copy)
      for (const { key, text } of told) {
        if (text === undefined) next.delete(key)
        else next.set(key, text)
      }
      assert.equal(new Set(told.map(({ key }) => key)).size, told.length, 'a record comes twice')
      copy = next
      since = page.until
      batch = none
      return { told, until: page.until }
    },
  }
}

/** Checks that changes lead from one version to another, in pages of so many. */
export async function checkWay(
  reader: StoreReader,
  limit: number,
  [since, until]: readonly [number, number],
  states: readonly Copy[],
): Promise<void> {
  const follower = createFollower()
  for (const to of since === 0 ? [until] : [since, until]) {
    while ((await follower.step(reader, limit, to)) === undefined);
  }
  assert.deepEqual(follower.copy(), states[until], `from ${since} to ${until} by ${limit}`)
}

/** The companies of a store, those included that are known by records alone, or were known. */
export function companiesIn(db: string): number[] {
  const sql = `select company_id from company_states
     union select company_id from heads order by 1`
  return query(db, sql).map((row) => Number(Object.values(row)[0]))
}
