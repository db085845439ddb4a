// Measures how long a store takes to answer.

import type { Awaitable } from '../store/awaitable.ts'
import type { StoreReader } from '../store/serving/store-reader.ts'
import { isWhole } from '../store/selection.ts'
import type { Metrics, StoreOperation } from '../http/metrics.ts'

/** Wraps a store so that the reads of the hot path are timed and counted. */
export function timeStore(store: StoreReader, metrics: Pick<Metrics, 'countStore'>): StoreReader {
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
    readHead: (selection) => time('head', () => store.readHead(selection)),
    readPage(selection, ...more) {
      const isPlain = selection.version === undefined && isWhole(selection)
      return time(isPlain ? 'page' : 'selection', () => store.readPage(selection, ...more))
    },
    readCompany: (asked) => Promise.resolve(time('company', () => store.readCompany(asked))),
    readChanges: (asked) => Promise.resolve(time('changes', () => store.readChanges(asked))),
    findKey: (hash) => time('key', () => store.findKey(hash)),
  }
}
