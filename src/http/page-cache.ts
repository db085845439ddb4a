// Ready pages, bounded in bytes. An entry is good for one version of its listing only, so a
// changed listing is never served stale; nothing has to be told of a change.

import { LRUCache } from 'lru-cache'
import type { Coding } from './compression.ts'

/** A page that is ready to be sent. */
export interface ReadyPage {
  /** The version of the listing that it was made from. */
  readonly version: number
  /** The body in its coding. */
  readonly body: Buffer
  readonly coding: Coding
  readonly link: string
  readonly lastModified: string
}

export interface PageCache {
  /** The page under `key`, of whatever version: it is the caller's to compare that. */
  get(key: string): ReadyPage | undefined
  set(key: string, page: ReadyPage): void
}

/** What an entry takes beside its body, in bytes, estimated generously. */
const overheadBytes = 1_024

/** @param bytesMax bounds the whole cache; 0 switches it off. */
export function createPageCache(bytesMax: number): PageCache {
  if (bytesMax === 0) return { get: () => undefined, set: () => undefined }
  const pages = new LRUCache<string, ReadyPage>({
    maxSize: bytesMax,
    // One page must not push all others out.
    maxEntrySize: Math.max(1, Math.floor(bytesMax / 8)),
    sizeCalculation: ({ body }) => body.length + overheadBytes,
  })
  return {
    get: (key) => pages.get(key),
    set: (key, page) => void pages.set(key, page),
  }
}
