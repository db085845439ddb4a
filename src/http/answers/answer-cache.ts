// The cache of answers that are ready to send, by request and coding.

import { LRUCache } from 'lru-cache'
import { createLru, fixedKey } from '../../store/caching.ts'
import type { Ready } from './send.ts'
import { isBorrowed } from '../wire/body-memory.ts'

/**
 * The memory of an entry in addition to its body and texts, in bytes: its key, its place, the Link
 * field of a page, and a key in the list of what was requested once. A generous estimate.
 */
const overheadBytes = 2_048

/**
 * Creates a cache of answers. An entry is valid for one state of its content, so a stale answer
 * is never served, even if a restored backup repeats version numbers. The cache needs no
 * invalidation.
 *
 * @param bytesMax bounds the whole cache; 0 turns it off.
 */
export function createAnswerCache(bytesMax: number) {
  if (bytesMax === 0) return { get: () => undefined, set: () => undefined }
  const answers = new LRUCache<string, Ready>({
    maxSize: bytesMax,
    // One answer must not evict all others.
    maxEntrySize: Math.max(1, Math.floor(bytesMax / 8)),
    sizeCalculation: sizeOf,
  })
  const askedOnce = createLru<string, true>(Math.ceil(bytesMax / overheadBytes))

  // Once the cache is full, an answer is cached only at its second request, if no more answers than
  // the cache holds were requested once in between (after A1out of 2Q, Johnson and Shasha 1994). A
  // client that walks through long listings evicts no popular page. An answer that is not cached is
  // collected while young; one evicted later costs a major collection of V8's whole heap.
  function isWorthKeeping(key: string, answer: Ready): boolean {
    const isFitting = answers.calculatedSize + sizeOf(answer) <= bytesMax
    if (isFitting || answers.has(key) || askedOnce.delete(key)) return true
    askedOnce.set(key, true)
    if (askedOnce.size > answers.size) askedOnce.pop()
    return false
  }

  return {
    /**
     * Returns the answer under `form`, which may be stale: the caller compares its state. It gets
     * back what it stored, since a form begins with the path of its endpoint.
     */
    get: (form: string): Ready | undefined => answers.get(fixedKey(form)),
    /** Caches an answer, unless it would evict others and was not requested recently. */
    set(form: string, answer: Ready): void {
      const key = fixedKey(form)
      if (isWorthKeeping(key, answer)) answers.set(key, withOwnMemory(answer))
    },
  }
}

/**
 * An answer whose body is in memory of its own, of exactly its size. A compressed body is a part of
 * a much larger piece, and so is any small buffer of Node's, which would be kept as long.
 */
function withOwnMemory(answer: Ready): Ready {
  const { body } = answer
  if (body.buffer.byteLength === body.length && !isBorrowed(body)) return answer
  const own = Buffer.allocUnsafeSlow(body.length)
  body.copy(own)
  return { ...answer, body: own }
}

/** The memory of an entry, in bytes. */
function sizeOf(answer: Ready): number {
  let bytes = answer.body.length + overheadBytes
  for (const value of Object.values(answer)) if (typeof value === 'string') bytes += value.length
  return bytes
}
