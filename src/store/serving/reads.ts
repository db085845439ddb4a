// What a database contributes to serving: reads by keys. It knows nothing of their meaning.

import type { Awaitable } from '../awaitable.ts'
import type { FirstTexts } from '../listing/read-page.ts'
import type { HeadRow, ListingReads } from '../listing/tables.ts'
import type { RegistryState } from '../reading.ts'

/** What made a version: an import, a revert or a withholding. */
export interface Change {
  readonly version: number
  readonly lineage: string
  /** When it was committed, in milliseconds since 1970. */
  readonly committedAt: number
}

/** The head of a listing, and the state of the registry in which it was read. */
export interface HeadInRegistry {
  readonly registry: RegistryState
  readonly head: HeadRow | undefined
  /** The first records, if some were wanted and were read with the head. */
  readonly first?: FirstTexts | undefined
}

/** Reads of listings that serve requests. */
export interface ServingReads extends ListingReads {
  /** Does several reads that see one state of the registry. */
  now<T>(read: () => Awaitable<T>): Awaitable<T>
  /**
   * Reads the head of a listing at a version, and nothing later than the registry's state.
   *
   * @param version the last one if undefined, or if it is later than the last.
   * @param wanted how many of its first records are wanted; some of them may be read with it.
   */
  headIn(
    listing: string,
    companyId: number,
    version: number | undefined,
    wanted: number,
  ): Awaitable<HeadInRegistry>
  /**
   * What made a version, which must exist.
   *
   * @param version its number, or its lineage.
   * @param registry the state of the registry, if it was read just now: after a restore, another
   *   import may have the same version.
   */
  change(version: number | string, registry?: RegistryState): Awaitable<Change>
  /** The version that made a company known, as of a version; undefined if it was not known. */
  knownSince(companyId: number, version: number): Awaitable<number | undefined>
}
