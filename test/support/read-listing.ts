// Reads listings as they are.

import assert from 'node:assert/strict'
import type { Resource } from '../../src/resources/resource.ts'
import type { Head, Page } from '../../src/store/reading.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { textOf } from '../../src/store/record-texts.ts'
import { wholeListing } from '../../src/store/selection.ts'

/** A page with its records as one text. */
export interface ReadPage extends Page {
  readonly text: string
}

/** Undefined if the company is not in the registry. */
export async function readListing(
  store: StoreReader,
  resource: Resource,
  companyId: number,
  { offset = 0, limit = 1_000 } = {},
): Promise<ReadPage | undefined> {
  const page = await store.readPage(wholeListing(resource, companyId), offset, limit)
  assert.ok(page === undefined || !('outside' in page))
  return page && { ...page, text: textOf(page.records) }
}

/** As `readListing`. */
export async function readListingHead(
  store: StoreReader,
  resource: Resource,
  companyId: number,
): Promise<Head | undefined> {
  const head = await store.readHead(wholeListing(resource, companyId))
  assert.ok(head === undefined || !('outside' in head))
  return head
}
