// Ready pages, bounded in bytes. An entry is good for one state of its listing only, so a changed
// listing is never served stale, not even where a restored backup repeats version numbers; nothing
// has to be told of a change.

import { LRUCache } from 'lru-cache'
import type { Coding } from './compression.ts'

/** A page that is ready to be sent. */
export interface ReadyPage {
  /** The lineage of the listing that it was made from: names one state of it. */
  readonly lineage: string
  /** The body in its coding. */
  readonly body: Buffer
  readonly coding: Coding
  readonly link: string
  readonly lastModified: string
}

export interface PageCache {
  /** The page under `key`, of whatever state: it is the caller's to compare that. */
  get(key: string): ReadyPage | undefined
  /** Keeps a page, unless it would drive out others and nobody has asked for it of late. */
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
    sizeCalculation: sizeOf,
  })
  const askedOnce = new LRUCache<string, true>({
    maxSize: Math.ceil(bytesMax / overheadBytes),
    sizeCalculation: () => 1,
  })

  // Once the cache is full, a page is kept when it is asked for a second time while as many others
  // were as there are in it (after A1out of 2Q, Johnson and Shasha 1994). Who walks through long
  // listings drives out nothing that is asked for often; and what is not kept is garbage while it
  // is young: pages that lie in the cache for a while cost a collection of all that V8 holds.
  function isWorthKeeping(key: string, page: ReadyPage): boolean {
    const isRoom = pages.calculatedSize + sizeOf(page) <= bytesMax
    if (isRoom || pages.has(key) || askedOnce.delete(key)) return true
    askedOnce.set(key, true)
    if (askedOnce.size > pages.size) askedOnce.pop()
    return false
  }

  return {
    get: (key) => pages.get(key),
    set(key, page) {
      if (isWorthKeeping(key, page)) pages.set(key, page)
    },
  }
}

function sizeOf({ body }: ReadyPage): number {
  return body.length + overheadBytes
}
