// The statements that serve a listing, over the SQL in which the stores differ, and their rows.

import type { Resource } from '../../resources/resource.ts'
import { boundedMeta, pageFits, sizesColumns } from '../page-size.ts'
import type { Head, Page } from '../reading.ts'

/** The SQL in which the stores' serving statements differ. */
export interface ServingWords {
  /** The parameters: company id, number of records before the page, maximum number in the page. */
  readonly company: string
  readonly offset: string
  readonly limit: string
  /**
   * SQL for one value: the records of a range, joined by commas; null for an empty range.
   *
   * @param range the SQL after `from`, with columns `position` and `record`.
   */
  readonly joined: (range: string, direction: 'asc' | 'desc') => string
  /** An empty value of the type of `joined`. */
  readonly empty: string
}

// A listing without records has the version of its company, and no meta.
const headColumns = `
  coalesce(h.total, 0), coalesce(h.version, c.version), i.committed_at,
  (select max(version) from imports), i.lineage`

const headTables = ({ name }: Resource, { company }: ServingWords) => `
  from companies c
  left join heads h on h.company_id = ${company} and h.resource = '${name}'
  join imports i on i.version = coalesce(h.version, c.version)
  where c.id = ${company}`

/** SQL that returns the head of a listing, as a `HeadRow`. Parameter: company. */
export function headSql(resource: Resource, words: ServingWords): string {
  return `select ${headColumns} ${headTables(resource, words)}`
}

/** SQL that returns the row for `greatestLimit`. Parameter: company. */
export function sizesSql(resource: Resource, words: ServingWords): string {
  return `select ${sizesColumns} ${headTables(resource, words)}`
}

/**
 * SQL that returns records and head in one statement, and so from one snapshot (ARCHITECTURE.md,
 * idea 4), as a `PageRow`. Parameters: company, offset, limit. Records that do not fit into a page
 * are not read (`page-size.ts`).
 */
export function pageSql(resource: Resource, words: ServingWords): string {
  const { name, order, metaOf } = resource
  const { company, offset, limit, joined, empty } = words
  // A descending listing is read backwards: its first record has the highest position.
  const isBackwards = order.direction === 'descending'
  const first = isBackwards ? `coalesce(h.total, 0) - ${offset} - ${limit}` : offset
  const range = `${name}
      where company_id = ${company}
        and position >= ${first} and position < ${first} + ${limit}`
  const records = `(${joined(range, isBackwards ? 'desc' : 'asc')})`
  return `
    select ${headColumns}, ${metaOf === undefined ? 'null' : boundedMeta},
      case when ${pageFits(limit, range)} then ${records} else ${empty} end
      ${headTables(resource, words)}`
}

/** The columns of a head, in order. */
export type HeadRow = [
  total: number,
  version: number,
  changedAt: number,
  dataVersion: number,
  lineage: string,
]

/**
 * The columns of a page, in order. The records are joined by the store: null for an empty range, an
 * empty value for a page that does not fit.
 */
export type PageRow<Records> = [...HeadRow, meta: string | null, records: Records | null]

export function headOf([total, version, changedAt, dataVersion, lineage]: HeadRow): Head {
  return { total, version, lineage, changedAt, dataVersion }
}

/** @param parts the parts of a page other than its head and `meta`. */
export function pageOf(
  [total, version, changedAt, dataVersion, lineage, meta]: PageRow<unknown>,
  parts: Pick<Page, 'recordsBetween' | 'greatestLimit'>,
): Page {
  const head = headOf([total, version, changedAt, dataVersion, lineage])
  return { ...head, meta: meta ?? undefined, ...parts }
}

/** Whether a page was left out because it does not fit (contract 3.10). */
export function isLeftOut(records: { readonly length: number } | null): boolean {
  return records?.length === 0
}

/** The last import of each source. */
export const lastImportsSql = `
  select s.name as source, i.version, i.committed_at as "committedAt"
  from imports i join sources s on s.id = i.source_id
  where i.version in (select max(version) from imports group by source_id)
  order by i.version desc limit 100`
