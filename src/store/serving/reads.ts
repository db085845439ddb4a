// What a database contributes to serving: reads by keys. What they mean is not its concern.

import type { Awaitable } from '../awaitable.ts'
import type { FirstTexts } from '../listing/read-page.ts'
import type { HeadRow, ListingReads } from '../listing/tables.ts'
import type { RegistryState } from '../reading.ts'

/** The import that made a version. */
export interface Change {
  readonly lineage: string
  /** When it was committed, in milliseconds since 1970. */
  readonly committedAt: number
}

/** The head of a listing, and the state of the registry in which it was read. */
export interface HeadInRegistry {
  readonly registry: RegistryState
  readonly head: HeadRow | undefined
  /** What was read of its first records at once, if any are wanted. */
  readonly first?: FirstTexts | undefined
}

/** Reads of listings that serve requests. */
export interface ServingReads extends ListingReads {
  /** Does several reads that see one state of the registry. */
  now<T>(read: () => Awaitable<T>): Awaitable<T>
  /**
   * Reads the head of a listing at a version, and nothing of later ones than the registry's state
   * says.
   *
   * @param version the last one if undefined, or if it is later than that.
   * @param wanted how many of its first records are wanted; some of them may be read at once.
   */
  headIn(
    listing: string,
    companyId: number,
    version: number | undefined,
    wanted: number,
  ): Awaitable<HeadInRegistry>
  /**
   * The import of a version that there is.
   *
   * @param registry the state of the registry that was read just now, if it was: after a restore,
   *   numbers of versions are those of other imports.
   */
  change(version: number, registry?: RegistryState): Awaitable<Change>
  /** The version that had made a company known at a version; undefined if it was not. */
  knownSince(companyId: number, version: number): Awaitable<number | undefined>
}
