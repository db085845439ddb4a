// Measures how long a store takes to answer.

import type { Awaitable } from '../store/awaitable.ts'
import type { StoreReader } from '../store/reading.ts'
import type { Metrics, StoreOperation } from '../http/metrics.ts'

/** Wraps a store so that the reads of the hot path are timed and counted. */
export function timeStore(store: StoreReader, metrics: Metrics): StoreReader {
  function time<T>(operation: StoreOperation, read: () => Awaitable<T>): Awaitable<T> {
    const startedAt = performance.now()
    const count = () => metrics.countStore(operation, performance.now() - startedAt)
    const answer = read()
    if (answer instanceof Promise) return answer.finally(count)
    count()
    return answer
  }
  return {
    ...store,
    readHead: (resource, company) => time('head', () => store.readHead(resource, company)),
    readPage: (resource, company, offset, limit) =>
      time('page', () => store.readPage(resource, company, offset, limit)),
    readSelection: (selection, offset, limit) =>
      Promise.resolve(time('selection', () => store.readSelection(selection, offset, limit))),
    readCompany: (asked) => Promise.resolve(time('company', () => store.readCompany(asked))),
    findKey: (hash) => time('key', () => store.findKey(hash)),
  }
}
