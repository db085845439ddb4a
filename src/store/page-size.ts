// Limits the size of a page (contract 3.10), which a store has to know before it builds one.
//
// A head has the size in bytes of its listing's largest record, if that exceeds `largeRecordBytes`.
// So pages of ordinary records are known to fit. Only if the limit times the largest record would
// not fit are the sizes of the page's records added up.

/** The maximum size of a page on the wire, in bytes before compression. */
export const pageBytesMax = 16 * 1_048_576
/** Records up to this size, in bytes, need no check: 1,000 of them fit into a page. */
export const largeRecordBytes = 8_192

/** The bytes of a page other than its records and `meta`, with a margin. */
const frameBytes = 288

/** SQL: `meta` of a head, unless it alone is larger than a page. */
export const boundedMeta = (head: string) =>
  `case when octet_length(${head}.meta) <= ${pageBytesMax} then ${head}.meta end`

/** SQL on `heads h`: the most bytes of a record and a comma. */
export const widestRecord = `coalesce(h.largest, ${largeRecordBytes}) + 1`

/** SQL: the bytes that a page of a head has for its records; below 0 if `meta` has no room. */
export const roomForRecords = (head: string) =>
  `${pageBytesMax - frameBytes} - coalesce(octet_length(${head}.meta), 0)`

/** SQL for the listings of a resource with large records: `company_id` and `bytes`. */
export const largestRecords = (name: string) => `
  select company_id, max(bytes) as bytes
  from ${name} where bytes > ${largeRecordBytes} group by company_id`

/**
 * The greatest limit below `limit` with which any page of a listing fits; 0 if none does, because
 * one record or `meta` alone is too large.
 *
 * @param widest as `widestRecord`, and `room` as `roomForRecords`.
 */
export function greatestLimit(widest: number, room: number, limit: number): number {
  return Math.max(0, Math.min(Math.floor(room / widest), limit - 1))
}
