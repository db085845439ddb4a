// What an import changes, besides the counts: how many values of each attribute, with examples, and
// which companies are added and removed. It is found before the merge replaces the old state.

import { type AttributeChange, textChanges } from '../companies/attribute-text.ts'
import {
  type AttributeDifference,
  attributesMax,
  type CompanyList,
  type ImportDifference,
  type ValueChange,
} from '../importing.ts'
import { keysOf, openListings, readSegments } from '../listing/open-listings.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { ImportContext } from './context.ts'
import { companiesOf } from './record-differences.ts'
import { textIn as textOfBytes } from '../record-texts.ts'
import { recordText, textIn } from './staging/spool.ts'
import type { StagedRowBytes } from './staging/staging.ts'

/**
 * If more than a few records have changed, one in four is compared, up to a maximum, so that the
 * comparison takes a small part of an import's time. Consecutive records are sampled together,
 * since a segment has several.
 */
const comparedFew = 2_000
const comparedMax = 10_000
const comparedShare = 1 / 4
const comparedTogether = 20
const rowsAtOnce = 1_000
const bytesAtOnce = 4_194_304
const examplesMax = 10
const namesMax = 10

/** Compares what an import changes with the former state. */
export async function findDifference(context: ImportContext): Promise<ImportDifference> {
  const { plan, staging } = context
  const changed = Number(staging.value(`select count(*) from change where ${differs}`))
  const wanted = Math.max(comparedFew, Math.min(comparedMax, changed * comparedShare))
  const everyOf = Math.max(1, Math.ceil(changed / wanted))
  let compared = 0
  const values = collectValues()
  const isOfCompanies = plan.target.resource === undefined
  const changes = staging.read(sampled, everyOf)
  for (const rows of inBatches(changes, rowsAtOnce, ([, row]) => row.length, bytesAtOnce)) {
    const before = await readBefore(context, rows)
    for (const [[company, id], row] of rows) {
      const old = before.get(keyOf(company, id))
      if (old === undefined) continue
      compared += 1
      const now = isOfCompanies ? textIn(row) : recordText(Number(id), row)
      for (const change of textChanges(old, now.toString())) values.add(Number(company), change)
    }
  }
  const oneOf = compared === 0 ? 1 : changed / compared
  const [come, go] = isOfCompanies ? [newCompanies, goneCompanies] : [madeCompanies, undefined]
  return {
    oneOf,
    attributes: await values.list(context, oneOf),
    come: await listCompanies(context, come),
    go: await listCompanies(context, go),
  }
}

const differs = 'is_known and seq is not null'

/** The rows that change known records, or some of them at equal distances. */
const sampled = `
  select company_id, id, leaf, at, length from (
    select company_id, id, leaf, at, length, row_number() over (order by company_id, id) as n
    from change where ${differs}
  ) where (n - 1) / ${comparedTogether} % ? = 0
  order by company_id, id`

const keyOf = (company: unknown, id: unknown) => `${String(company)} ${String(id)}`

/** The former texts of the records that rows change, by company and id. */
async function readBefore(
  { tables, shape }: ImportContext,
  rows: readonly StagedRowBytes[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const wanted = new Set(rows.map(([[company, id]]) => keyOf(company, id)))
  const chosen = Map.groupBy(rows, ([[company]]) => Number(company))
  const open = await openListings(tables, shape.listing, [...chosen.keys()])
  const keys = [...open].flatMap(([id, { leaves }]) => {
    const asked = new Set(chosen.get(id)?.map(([[, , leaf]]) => Number(leaf)))
    const found = [...asked].flatMap((leaf) => leaves[leaf] ?? [])
    return keysOf(id, found)
  })
  for await (const { companyId, records } of readSegments(tables, shape, keys, { ids: true })) {
    for (const { id, text } of records) {
      const key = keyOf(companyId, id)
      if (wanted.has(key)) found.set(key, textOfBytes(text))
    }
  }
  return found
}

interface Tally {
  changed: number
  appeared: number
  gone: number
  /** The first changes from one value to another, with the number of the company. */
  readonly examples: Map<string, readonly [company: number, change: ValueChange]>
}

/** Counts the changes of values, by attribute. */
function collectValues() {
  const tallies = new Map<string, Tally>()
  return {
    add(company: number, { attr, ...change }: AttributeChange): void {
      let tally = tallies.get(attr)
      if (tally === undefined) {
        if (tallies.size === attributesMax) return
        tally = { changed: 0, appeared: 0, gone: 0, examples: new Map() }
        tallies.set(attr, tally)
      }
      const { before, after } = change
      tally[before === null ? 'appeared' : after === null ? 'gone' : 'changed'] += 1
      if (tally.examples.size === examplesMax) return
      const example = { before: shortened(before), after: shortened(after) }
      const pair = `${example.before ?? '\0'}\0${example.after ?? '\0'}`
      if (!tally.examples.has(pair)) tally.examples.set(pair, [company, example])
    },
    /** The attributes with the most changes first; counts of a sample become estimates. */
    async list(context: ImportContext, oneOf: number): Promise<AttributeDifference[]> {
      const shown = [...tallies.values()].flatMap(({ examples }) => [...examples.values()])
      const names = await namesOf(context, [...new Set(shown.map(([company]) => company))])
      const of = (count: number) => Math.round(count * oneOf)
      return [...tallies]
        .map(([name, { changed, appeared, gone, examples }]) => ({
          name,
          changed: of(changed),
          appeared: of(appeared),
          gone: of(gone),
          examples: [...examples.values()].map(([company, change]) => ({
            company: names.get(company) ?? String(company),
            ...change,
          })),
        }))
        .sort((a, b) => sumOf(b) - sumOf(a) || (a.name < b.name ? -1 : 1))
    },
  }
}

const sumOf = ({ changed, appeared, gone }: AttributeDifference) => changed + appeared + gone

const exampleLengthMax = 200

/** A slice would keep the whole value in memory, so its characters are copied. */
function shortened(value: string | null): string | null {
  if (value === null || value.length <= exampleLengthMax) return value
  return `${Buffer.from(value.slice(0, exampleLengthMax)).toString()}…`
}

const newCompanies = 'select company_id from change where not is_known order by company_id'
const goneCompanies = 'select company_id from change where seq is null order by company_id'
const madeCompanies = 'select id from companies where is_new order by id'

/** How many companies a query of the staging returns, and the names of the first. */
async function listCompanies(
  context: ImportContext,
  sql: string | undefined,
): Promise<CompanyList> {
  if (sql === undefined) return { count: 0, names: [] }
  const { staging } = context
  const first = staging.rows(`${sql} limit ${namesMax}`).map(([id]) => Number(id))
  const count = Number(staging.value(`select count(*) from (${sql})`))
  return { count, names: [...(await namesOf(context, first)).values()] }
}

/** The names of companies in their registers, or their ids if these are unknown. */
async function namesOf(
  context: ImportContext,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>()
  for (const { id, jurisdiction, identifier } of await companiesOf(context, ids)) {
    names.set(id, identifier === null ? String(id) : `${jurisdiction ?? ''} ${identifier}`)
  }
  return names
}
