// Caches with a bounded number of entries, and keys of a bounded length.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/**
 * Creates a cache that keeps the entries used last.
 *
 * @param max is the maximum number of entries. As lru-cache's own `max`, it would allocate their
 *   places in advance: all caches of a server together, a sixteenth of its start.
 */
export function createLru<Key extends number | string, Value extends object | number | true>(
  max: number,
) {
  return new LRUCache<Key, Value>({ maxSize: max, sizeCalculation: () => 1 })
}

/** The greatest length of a key, in characters. */
const lengthMax = 100

/**
 * A key of a cache: the text itself if it is short, as it is for almost all requests, else its
 * hash. Clients choose up to 15 kB of it, which a cache that counts only its values would miss.
 *
 * @param text begins with a character that base64url does not have, such as a slash or a bracket.
 */
export function fixedKey(text: string): string {
  return text.length <= lengthMax ? text : hash('sha256', text, 'base64url')
}
