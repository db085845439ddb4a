// A cache that is bounded by the number of its entries.

import { LRUCache } from 'lru-cache'

/** Told the number as `max`, the library would take the memory of all entries at once. */
export function createEntriesCache<K extends string | number, V extends object | number | true>(
  entriesMax: number,
): LRUCache<K, V> {
  return new LRUCache<K, V>({ maxSize: entriesMax, sizeCalculation: () => 1 })
}
