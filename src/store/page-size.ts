// Limits the size of a page (contract 3.10), before it is built.
//
// A head has the size of its listing's largest record, so most pages are known to fit. Only if the
// limit times that record would not fit are the sizes of the page's records added up.

/** The maximum size of a page on the wire, in bytes before compression. */
export const pageBytesMax = 16 * 1_048_576

/** The bytes of a page other than its records and `meta`, with a margin. */
const frameBytes = 288

/** What the size of a listing's pages depends on. */
export interface PageBudget {
  /** The bytes of the largest record and a comma. */
  readonly recordBytesMax: number
  /** The bytes that a page has for its records; most of it, since `meta` is bounded, too. */
  readonly bytesMax: number
}

/** @param largest the bytes of the largest record. */
export function budgetOf(largest: number, meta = ''): PageBudget {
  const bytesMax = pageBytesMax - frameBytes - Buffer.byteLength(meta)
  return { recordBytesMax: largest + 1, bytesMax }
}

/**
 * The greatest limit below `limit` with which any page of a listing fits; 0 if one record is too
 * large.
 */
export function greatestLimit({ recordBytesMax, bytesMax }: PageBudget, limit: number): number {
  return Math.min(Math.floor(bytesMax / recordBytesMax), limit - 1)
}
