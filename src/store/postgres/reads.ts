// The reads of listings that serve requests from PostgreSQL: one statement reads a head with its
// first segment and the state of the registry, another one reads further texts. Segments never
// change, so no transaction is needed.

import type { Awaitable } from '../awaitable.ts'
import { MissingSegmentError } from '../listing/tables.ts'
import type { HeadInRegistry, ServingReads } from '../serving/reads.ts'
import { createVersionReads, registryStateOf, type RegistryRow } from '../sql/versions.ts'
import { companyPlace, type Gate } from './citus/gate.ts'
import { firstTexts, ofHolder } from '../sql/head-tables.ts'
import { comparable } from '../sql/dialect.ts'
import { freeRows } from './binary.ts'
import { listingReads, type Rows } from './tables.ts'

/** How often a listing is read again whose segments were pruned after its head was read. */
const attemptsMax = 3

/** All segments of a listing are read with its head if they have at most about this size. */
const wholeBytesMax = 1_048_576

/** Whether a head `h` has at most $4 records, and few enough bytes to read them with it. */
const isWhole = `
  h.total <= $4 and h.total::bigint * h.largest <= ${wholeBytesMax} and h.directory like '[0,%'`

/** The segments of such a head; a mark is no number. */
const segmentsOfWhole = `
  translate(
    jsonb_path_query_array(
      h.directory::jsonb, '$[1 to last][0] ? (@.type() == "number")'
    )::text, '[]', '{}'
  )::bigint[]`

/**
 * The texts of such a head, joined by commas in the order of their numbers, since another statement
 * would cost as much again; of others, those of the first segment. Not by a join: PostgreSQL might
 * read all segments of the company for it.
 */
const textsOfHead = `
  coalesce(
    h.texts,
    (
      select string_agg(texts, ','::bytea order by segment) from segments
      where company_id = $1
        and segment = any(case when w.is_whole then ${segmentsOfWhole} else array[h.segment] end)
    ),
    ${ofHolder('texts', '$1', 'h.segment')}
  )`

/**
 * The state of the registry, and the head of a listing at a version, with its import. It is one
 * statement, so that all are of one moment.
 */
const headInRegistrySql = (hasTexts: boolean) => `
  select y.past_from, l.version, l.lineage, l.committed_at,
    h.version, h.total, h.meta, h.largest, h.directory, i.lineage, i.committed_at
    ${hasTexts ? `, w.is_whole, ${textsOfHead}` : ''}
  from store y
  left join lateral (
    select version, lineage, committed_at from imports order by version desc limit 1
  ) l on true
  left join lateral (
    select * from heads
    where company_id = $1 and listing = $2 and version <= least($3::integer, l.version)
    order by version desc limit 1
  ) h on true
  left join imports i on i.version = h.version
  ${hasTexts ? `cross join lateral (select ${isWhole}) w (is_whole)` : ''}`

// Made once: a text that is made anew for each page would have to be hashed to find its name.
const registryAndHeadSql = headInRegistrySql(false)
const registryHeadAndTextsSql = headInRegistrySql(true)

type HeadInRegistryRow = [
  ...RegistryRow,
  version: number | null,
  total: number,
  meta: string | null,
  largest: number,
  directory: string,
  lineage: string | null,
  committedAt: number,
  isWhole?: boolean,
  texts?: Uint8Array | null,
]

/**
 * @param rows runs statements.
 * @param rowsOfCompany runs a statement about the company that is its first value.
 */
export function createReads(rows: Rows, gate: Gate, rowsOfCompany = rows): ServingReads {
  const versions = createVersionReads(rows, rowsOfCompany)
  const headInRegistry = readHeadInRegistry(rowsOfCompany, versions.note)
  const listings = listingReads(rowsOfCompany)
  const at = <T>(company: number, work: () => Awaitable<T>) =>
    gate(companyPlace(company), async () => work())

  return {
    texts: (...asked) => at(asked[0], () => listings.texts(...asked)),
    entries: (...asked) => at(asked[0], () => listings.entries(...asked)),
    free: freeRows,
    change: versions.change,
    async now(read) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await read()
        } catch (error) {
          if (!(error instanceof MissingSegmentError) || attempt === attemptsMax) throw error
        }
      }
    },
    headIn: (...asked) => at(asked[1], () => headInRegistry(...asked)),
    knownSince: (...asked) => at(asked[0], () => versions.knownSince(...asked)),
  }
}

/** Reads a head with the state of the registry in which it is found. */
function readHeadInRegistry(rows: Rows, note: ReturnType<typeof createVersionReads>['note']) {
  return async (
    ...[listing, companyId, version, wanted]: Parameters<ServingReads['headIn']>
  ): Promise<HeadInRegistry> => {
    const most = comparable(version ?? Number.MAX_SAFE_INTEGER)
    const asked = [companyId, listing, most, ...(wanted === 0 ? [] : [wanted])]
    const sql = wanted > 0 ? registryHeadAndTextsSql : registryAndHeadSql
    const [row] = await rows<HeadInRegistryRow>(sql, ...asked)
    if (row === undefined) throw new Error('the store has lost its row of the table store')
    const [earliest, last, lastLineage, lastCommittedAt, found, ...more] = row
    const [total, meta, largest, directory, lineage, committedAt, isWhole, texts] = more
    const registry = registryStateOf([earliest, last, lastLineage, lastCommittedAt])
    if (found === null) {
      note(registry)
      return { registry, head: undefined }
    }
    note(registry, found, lineage === null ? undefined : { version: found, lineage, committedAt })
    const head = { companyId, version: found, total, meta, largest, directory }
    return { registry, head, first: firstTexts(texts, isWhole) }
  }
}
