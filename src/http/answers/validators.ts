// The headers by which an answer is revalidated; a 200 and a 304 have them in common (contract
// section 5).

import type { HttpReply } from '../wire/exchange.ts'

/** What the validators of an answer say. */
export interface Validators {
  readonly tag: string
  /** The registry's version that the answer was read from. */
  readonly dataVersion: number
  /** As an HTTP date. */
  readonly lastModified: string
}

export function setValidators(
  reply: HttpReply,
  { tag, dataVersion, lastModified }: Validators,
): void {
  void reply
    .header('etag', tag)
    .header('cache-control', 'private, no-cache')
    .header('data-version', dataVersion)
    .header('last-modified', lastModified)
}
