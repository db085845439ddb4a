// How large a page may be (contract 3.10), and how a store knows before it puts one together.
//
// A head says how many bytes the largest record of its listing has, where that is more than
// `largeRecordBytes`. So a page of usual records is known to fit without a look at them; only where
// the limit times the largest record would not fit are the lengths of the page's own records added
// up, one by one until they are too many: SQLite reads a record to find the next one.

/** The most bytes that a page has on the wire, before it is compressed. */
export const pageBytesMax = 16 * 1_048_576
/** Records up to this size, in bytes, are not told apart: 1,000 of them fit into a page. */
export const largeRecordBytes = 8_192

/** What stands in a page beside its records and `meta`, in bytes, counted generously. */
const frameBytes = 288

/** `meta` of `heads h`, unless it alone is larger than a page; SQL. */
export const boundedMeta = `case when octet_length(h.meta) <= ${pageBytesMax} then h.meta end`

/**
 * Whether a page fits, as an SQL condition over `heads h`.
 *
 * @param limit the page's limit, as SQL.
 * @param range what follows `from` to select the page's records, as SQL.
 */
export function pageFits(limit: string, range: string): string {
  const rest = `coalesce(octet_length(h.meta), 0) + ${frameBytes}`
  return `(
    ${limit} * (coalesce(h.largest, ${largeRecordBytes}) + 1) + ${rest} <= ${pageBytesMax}
    or ${rest} <= ${pageBytesMax} and not exists (
      select 1 from (
        select sum(octet_length(record) + 1)
          over (order by position rows between unbounded preceding and current row) as bytes
        from ${range}
      ) sums where bytes + ${rest} > ${pageBytesMax}
    )
  )`
}

/** The listings of a resource that have large records: `company_id` and `bytes`, as SQL. */
export const largestRecords = (name: string) => `
  select company_id, max(octet_length(record)) as bytes
  from ${name} where octet_length(record) > ${largeRecordBytes} group by company_id`

/** What is asked of `heads h` where a page was left out, as SQL columns; a row of two numbers. */
export const sizesColumns = 'h.largest, octet_length(h.meta)'

/**
 * The greatest limit below `limit` with which any page of a listing fits; 0 where none does, since
 * one record or `meta` is too large by itself.
 *
 * @param row is that of `sizesColumns`.
 */
export function greatestLimit(row: unknown, limit: number): number {
  const [largest, metaBytes] = (row ?? []) as [largest?: number | null, metaBytes?: number | null]
  const bytes = pageBytesMax - frameBytes - (metaBytes ?? 0)
  const fitting = Math.floor(bytes / ((largest ?? largeRecordBytes) + 1))
  return Math.max(0, Math.min(fitting, limit - 1))
}
