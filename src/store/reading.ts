// What serving asks of a store, whichever database is behind it: nothing here writes.

import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from './awaitable.ts'
import type { KeyRecord } from './keys.ts'

/** What a listing is like, without its records; all of one snapshot. */
export interface Head {
  readonly total: number
  /** The version in which the listing last changed: the number of that import. */
  readonly version: number
  /** What that import drew: names this state of the listing in any history (`lineage.ts`). */
  readonly lineage: string
  /** When that import was committed, in milliseconds since 1970. */
  readonly changedAt: number
  /** The registry's version that this was read from: the number of its last import. */
  readonly dataVersion: number
}

/** A range of a listing, with the head of the same snapshot. */
export interface Page extends Head {
  /** The records' JSON texts, joined by commas, between two texts, as UTF-8. To be asked once. */
  readonly recordsBetween: (head: string, tail: string) => Buffer
  /** The JSON text of `meta`, for a resource that has one. */
  readonly meta: string | undefined
  /**
   * Where the page would be larger than `pageBytesMax` and was not put together: the greatest
   * limit with which any page of the listing fits, 0 where none does. Else undefined.
   */
  readonly greatestLimit: number | undefined
}

/** The last import of a source. */
export interface LastImport {
  readonly source: string
  /** The registry's version that it made. */
  readonly version: number
  /** Milliseconds since 1970. */
  readonly committedAt: number
}

/** What the serving process may do with a store: nothing here writes (invariant 3). */
export interface StoreReader {
  /** Made at random with the store, and kept by its copies. */
  readonly storeId: string
  /** The head of a listing; undefined where the registry does not know the company. */
  readHead(resource: Resource, companyId: number): Awaitable<Head | undefined>
  /**
   * `limit` records after the first `offset` ones, in the listing's order, with the head; undefined
   * where the registry does not know the company.
   */
  readPage(
    resource: Resource,
    companyId: number,
    offset: number,
    limit: number,
  ): Awaitable<Page | undefined>
  findKey(hash: Uint8Array): Awaitable<KeyRecord | undefined>
  /** The last import of each source, the latest first; of the latest hundred. */
  lastImports(): Awaitable<readonly LastImport[]>
  /** Resolves where the store answers, rejects where it does not. */
  ping(): Awaitable<void>
  close(): Awaitable<void>
}
