// The seam of listings in PostgreSQL: statements of one table each, with lists of keys as arrays;
// segments and heads are written by COPY. Citus runs the same statements, where the rows are.

import type { Client } from 'pg'
import { firstSegment } from '../listing/directory.ts'
import {
  type HeadRow,
  type ListedId,
  type ListingLookups,
  type ListingReads,
  type ListingTables,
  MissingSegmentError,
  type SegmentKey,
  type SegmentRow,
} from '../listing/tables.ts'
import type { HeadInRegistry, ReadWithHead } from '../serving/reads.ts'
import { type BinaryQuery, bigint, copyRows, type Field, integer, text } from './binary.ts'
import { changeLookups, traceTables, companyLookups, companyTables } from './company-tables.ts'

/** Runs a statement, and returns its rows as arrays of their columns. */
export type Rows = <Row extends unknown[]>(
  sql: string,
  ...values: readonly (string | number | readonly (string | number | null)[])[]
) => Promise<Row[]>

/**
 * Reads and writes the tables of a store, within the transaction of the caller.
 *
 * @param isSpread whether Citus has spread the tables.
 */
export function tablesOf(client: Client, isSpread = false): ListingTables {
  const rows: Rows = async (sql, ...values) => {
    const query: BinaryQuery = { text: sql, values: [...values], rowMode: 'array', binary: true }
    return (await client.query(query)).rows as never
  }
  return {
    ...lookupsOf(rows, isSpread),
    ...headTables(client, rows),
    ...segmentTables(client, rows),
    ...traceTables(rows),
    ...idTables(rows),
    ...keyTables(rows),
    ...companyTables(rows),
  }
}

/** Looks up listings of many companies at once, over any connection. */
export function lookupsOf(rows: Rows, isSpread: boolean): ListingLookups {
  return {
    ...listingReads(rows),
    ...headLookups(rows, isSpread),
    ...changeLookups(rows),
    segments: segmentLookup(rows),
    ...companyLookups(rows),
  }
}

/** A list of numbers as the value of a parameter. */
export const listOf = (numbers: readonly number[]) => `{${numbers.join()}}`

const headColumns = 'h.company_id, h.version, h.total, h.meta, h.largest, h.directory'

type HeadColumns = [
  ...[companyId: number, version: number, total: number, meta: string | null],
  ...[largest: number, directory: string, texts?: Uint8Array | null],
]

function headOf([companyId, version, total, meta, largest, directory]: HeadColumns): HeadRow {
  return { companyId, version, total, meta, largest, directory }
}

/** Reads a head; the texts of its first segment may be in the same row. */
export const headSql = (beside: ReadWithHead) => `
  select ${headColumns}${beside === 'texts' ? ', t.texts' : ''} from heads h
  ${beside === 'texts' ? textsOfHead : ''}
  where h.company_id = $1 and h.listing = $2 and h.version <= $3 order by h.version desc limit 1`

/** Joins the first segment of a head `h` of the company $1. */
export const textsOfHead = 'left join segments t on t.company_id = $1 and t.segment = h.segment'

/** Reads a head, and the texts of its first segment if they are asked for. */
export async function readHead(
  rows: Rows,
  [listing, companyId, version]: readonly [listing: string, companyId: number, version: number],
  beside: ReadWithHead,
): Promise<Pick<HeadInRegistry, 'head' | 'texts'>> {
  const asked = [companyId, listing, greatest(version)] as const
  const [row] = await rows<HeadColumns>(headSql(beside), ...asked)
  return { head: row && headOf(row), texts: row?.[6] ?? undefined }
}

export const segmentsSql = (column: 'texts' | 'entries') => `
  select segment, ${column} from segments
  where company_id = $1 and segment = any($2::bigint[]) and ${column} is not null`

/** Reads of a company's listings; prepared, since most of them serve requests. */
export function listingReads(rows: Rows): ListingReads {
  const read = async (column: 'texts' | 'entries', companyId: number, asked: readonly number[]) => {
    const found = await rows<FoundSegment>(segmentsSql(column), companyId, listOf(asked))
    return inOrder(companyId, asked, found)
  }
  return {
    head: async (...asked) => (await readHead(rows, asked, 'nothing')).head,
    texts: (companyId, segments) => read('texts', companyId, segments),
    entries: (companyId, segments) => read('entries', companyId, segments),
  }
}

type FoundSegment = [segment: number, bytes: Uint8Array]

/** A version as PostgreSQL can compare it. */
export const greatest = (version: number) => Math.min(version, 2 ** 31 - 1)

/**
 * A column of segments in the order asked for.
 *
 * @throws Error if one is missing.
 */
function inOrder(
  companyId: number,
  asked: readonly number[],
  found: readonly FoundSegment[],
): readonly Uint8Array[] {
  const bySegment = new Map(found)
  return asked.map((segment) => {
    const bytes = bySegment.get(segment)
    if (bytes === undefined) throw new MissingSegmentError({ companyId, segment })
    return bytes
  })
}

// A company may have thousands of heads, so that each last one is looked up.
const headsTogether = `
  select ${headColumns} from unnest($2::bigint[]) e (company_id)
  cross join lateral (
    select * from heads l
    where l.company_id = e.company_id and l.listing = $1 and l.version <= $3
    order by l.version desc limit 1
  ) h`

// Citus cannot send a limit that depends on a row to the nodes.
const headsSpread = `
  select distinct on (company_id) ${headColumns} from heads h
  where company_id = any($2::bigint[]) and listing = $1 and version <= $3
  order by company_id, version desc`

const dropHeadsSql = `
  delete from heads where listing = $1
    and (company_id, version) in (select * from unnest($2::bigint[], $3::integer[]))`

function headLookups(rows: Rows, isSpread: boolean) {
  const headsSql = isSpread ? headsSpread : headsTogether
  return {
    heads: async (listing, companies, version) =>
      (await rows<HeadColumns>(headsSql, listing, listOf(companies), greatest(version))).map(
        headOf,
      ),
    headsOf: async (listing, companies) =>
      (
        await rows<HeadColumns>(
          `select ${headColumns} from heads h
           where company_id = any($1::bigint[]) and listing = $2 order by company_id, version`,
          ...[listOf(companies), listing],
        )
      ).map(headOf),
    hasHeads: async (listing) =>
      (await rows('select 1 from heads where listing = $1 limit 1', listing)).length > 0,
    companiesWith: async (listing, { after, limit }) =>
      (
        await rows<[number]>(
          `select distinct company_id from heads
           where company_id > $1 and listing = $2 order by company_id limit $3`,
          ...[after, listing, limit],
        )
      ).map(([companyId]) => companyId),
  } satisfies Partial<ListingTables>
}

/**
 * Tells heads that may have been written before. Those of a new version have not, if their
 * companies come after all that this session has written: imports go by company.
 */
function watchHeads(rows: Rows) {
  let committed: number | undefined
  const last = new Map<string, number>()
  return async (listing: string, heads: readonly HeadRow[]) => {
    committed ??= (await rows<[number]>('select coalesce(max(version), 0) from imports'))[0]?.[0]
    const [oldest, greatest] = [committed ?? Infinity, last.get(listing) ?? 0]
    for (const { companyId } of heads) {
      if (companyId > (last.get(listing) ?? 0)) last.set(listing, companyId)
    }
    return heads.filter(({ version, companyId }) => version <= oldest || companyId <= greatest)
  }
}

function segmentOf({ directory }: HeadRow): Field {
  const segment = firstSegment(directory)
  return segment === null ? null : bigint(segment)
}

function headTables(client: Client, rows: Rows) {
  const drop: ListingTables['dropHeads'] = async (listing, heads) => {
    const companies = heads.map(({ companyId }) => companyId)
    const versions = heads.map(({ version }) => version)
    await rows(dropHeadsSql, listing, listOf(companies), listOf(versions))
  }
  const mayBeWritten = watchHeads(rows)
  return {
    async putHeads(listing, heads) {
      if (heads.length === 0) return
      const replaced = await mayBeWritten(listing, heads)
      if (replaced.length > 0) await drop(listing, replaced)
      const name = text(listing)
      await copyRows(
        client,
        'heads (company_id, listing, version, total, meta, largest, directory, segment)',
        heads.map((head) => [
          ...[bigint(head.companyId), name, integer(head.version), integer(head.total)],
          ...[text(head.meta), integer(head.largest), text(head.directory), segmentOf(head)],
        ]),
      )
    },
    dropHeads: drop,
  } satisfies Partial<ListingTables>
}

const keyLists = (keys: readonly SegmentKey[]) => [
  listOf(keys.map(({ companyId }) => companyId)),
  listOf(keys.map(({ segment }) => segment)),
]

const amongKeys = '(company_id, segment) in (select * from unnest($1::bigint[], $2::bigint[]))'

function segmentLookup(rows: Rows): ListingTables['segments'] {
  return async (keys, what) => {
    if (keys.length === 0) return []
    type Columns = [number, number, Uint8Array, Uint8Array | null]
    const columns = what === 'both' ? 'entries, texts' : 'entries, null::bytea'
    const found = await rows<Columns>(
      `select company_id, segment, ${columns} from segments where ${amongKeys}`,
      ...keyLists(keys),
    )
    const bySegment = new Map(
      found.map(([companyId, segment, entries, texts]): [number, SegmentRow] => [
        segment,
        { companyId, segment, entries, texts },
      ]),
    )
    return keys.map((key) => {
      const row = bySegment.get(key.segment)
      if (row?.companyId !== key.companyId) throw new MissingSegmentError(key)
      return row
    })
  }
}

function segmentTables(client: Client, rows: Rows) {
  return {
    companiesHolding: async (bytes) =>
      (
        await rows<[number]>(
          `select distinct company_id from segments where position(decode($1, 'hex') in texts) > 0`,
          Buffer.from(bytes).toString('hex'),
        )
      ).map(([companyId]) => companyId),
    async putSegments(written) {
      if (written.length === 0) return
      await copyRows(
        client,
        'segments (company_id, segment, entries, texts)',
        written.map(({ companyId, segment, entries, texts }) => [
          ...[bigint(companyId), bigint(segment), entries, texts],
        ]),
      )
    },
    async dropSegments(keys) {
      await rows(`delete from segments where ${amongKeys}`, ...keyLists(keys))
    },
    async lastSegment() {
      return (await rows<[number]>('select segments from store'))[0]?.[0] ?? 0
    },
    async noteLastSegment(segment) {
      await rows('update store set segments = $1', segment)
    },
  } satisfies Partial<ListingTables>
}

function idTables(rows: Rows) {
  return {
    whereListed: async (listing, ids) =>
      (
        await rows<[number, number, number]>(
          `select id, company_id, source_id from record_ids
           where listing = $1 and id = any($2::bigint[])`,
          ...[listing, listOf(ids)],
        )
      ).map(([id, companyId, source]): ListedId => ({ id, companyId, source })),
    async putIds(listing, ids) {
      await rows(
        `insert into record_ids (listing, id, company_id, source_id)
           select $1, id, company_id, source_id
           from unnest($2::bigint[], $3::bigint[], $4::integer[]) u (id, company_id, source_id)
         on conflict (listing, id, company_id) do update set source_id = excluded.source_id`,
        listing,
        listOf(ids.map(({ id }) => id)),
        listOf(ids.map(({ companyId }) => companyId)),
        listOf(ids.map(({ source }) => source)),
      )
    },
    async dropIds(listing, ids) {
      await rows(
        `delete from record_ids where listing = $1
           and (id, company_id) in (select * from unnest($2::bigint[], $3::bigint[]))`,
        listing,
        listOf(ids.map(({ id }) => id)),
        listOf(ids.map(({ companyId }) => companyId)),
      )
    },
    async lastId(listing, below) {
      const [ids] = await rows<[number | null]>(
        'select max(id) from record_ids where listing = $1 and id < $2',
        ...[listing, below],
      )
      const [keys] = await rows<[number | null]>(
        'select max(id) from record_keys where listing = $1',
        listing,
      )
      return Math.max(ids?.[0] ?? 0, keys?.[0] ?? 0)
    },
  } satisfies Partial<ListingTables>
}

function keyTables(rows: Rows) {
  return {
    keyIds: async (listing, source, keys) =>
      new Map(
        await rows<[string, number]>(
          `select key, id from record_keys
           where listing = $1 and source_id = $2 and key = any($3::text[])`,
          ...[listing, source, keys],
        ),
      ),
    async putKeys(listing, source, keys) {
      await rows(
        `insert into record_keys (listing, source_id, key, id)
           select $1, $2, key, id from unnest($3::text[], $4::bigint[]) u (key, id)`,
        ...[listing, source],
        keys.map(({ key }) => key),
        listOf(keys.map(({ id }) => id)),
      )
    },
    recordKeys: async (listing, ids) =>
      (
        await rows<[number, number, string]>(
          `select id, source_id, key from record_keys
           where listing = $1 and id = any($2::bigint[])`,
          ...[listing, listOf(ids)],
        )
      ).map(([id, source, key]) => ({ id, source, key })),
    async changeKeys(listing, keys) {
      // The key distributes the table, so that it cannot be altered.
      await rows(
        'delete from record_keys where listing = $1 and id = any($2::bigint[])',
        ...[listing, listOf(keys.map(({ id }) => id))],
      )
      await rows(
        `insert into record_keys (listing, source_id, key, id)
           select $1, source_id, key, id
           from unnest($2::integer[], $3::text[], $4::bigint[]) u (source_id, key, id)`,
        ...[listing, listOf(keys.map(({ source }) => source))],
        keys.map(({ key }) => key),
        listOf(keys.map(({ id }) => id)),
      )
    },
    keySources: async (listing, ids) =>
      (
        await rows<[number, number]>(
          `select id, source_id from record_keys where listing = $1 and id = any($2::bigint[])`,
          ...[listing, listOf(ids)],
        )
      ).map(([id, source]) => ({ id, source })),
  } satisfies Partial<ListingTables>
}
