// Limits the size of a page (contract 3.10), which a store has to know before it builds one.
//
// A head has the size in bytes of its listing's largest record, if that exceeds `largeRecordBytes`.
// So pages of ordinary records are known to fit without reading them. Only if the limit times the
// largest record would not fit are the page's records added up, one by one until they are too
// large: SQLite has to read a record to find the next one.

/** The maximum size of a page on the wire, in bytes before compression. */
export const pageBytesMax = 16 * 1_048_576
/** Records up to this size, in bytes, need no check: 1,000 of them fit into a page. */
export const largeRecordBytes = 8_192

/** The bytes of a page other than its records and `meta`, with a margin. */
const frameBytes = 288

/** SQL: `meta` of `heads h`, unless it alone is larger than a page. */
export const boundedMeta = `case when octet_length(h.meta) <= ${pageBytesMax} then h.meta end`

/**
 * Whether a page fits, as an SQL condition on `heads h`.
 *
 * @param limit the page's limit, as SQL.
 * @param range the SQL after `from` that selects the page's records.
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

/** SQL for the listings of a resource with large records: `company_id` and `bytes`. */
export const largestRecords = (name: string) => `
  select company_id, max(octet_length(record)) as bytes
  from ${name} where octet_length(record) > ${largeRecordBytes} group by company_id`

/** SQL columns of `heads h` that are read if a page was left out; a row of two numbers. */
export const sizesColumns = 'h.largest, octet_length(h.meta)'

/**
 * The greatest limit below `limit` with which any page of a listing fits; 0 if none does, because
 * one record or `meta` alone is too large.
 *
 * @param row a row of `sizesColumns`.
 */
export function greatestLimit(row: unknown, limit: number): number {
  const [largest, metaBytes] = (row ?? []) as [largest?: number | null, metaBytes?: number | null]
  const bytes = pageBytesMax - frameBytes - (metaBytes ?? 0)
  const fitting = Math.floor(bytes / ((largest ?? largeRecordBytes) + 1))
  return Math.max(0, Math.min(fitting, limit - 1))
}
