// Measures how long a store takes to answer.

import type { Awaitable } from '../store/awaitable.ts'
import type { StoreReader } from '../store/reading.ts'
import { isWhole, type Selection } from '../store/selection.ts'
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
    readHead: (selection) => time('head', () => store.readHead(selection)),
    readPage: (selection, offset, limit) =>
      time(isPlain(selection) ? 'page' : 'selection', () =>
        store.readPage(selection, offset, limit),
      ),
    readCompany: (asked) => Promise.resolve(time('company', () => store.readCompany(asked))),
    readChanges: (asked) => Promise.resolve(time('changes', () => store.readChanges(asked))),
    findKey: (hash) => time('key', () => store.findKey(hash)),
  }
}

function isPlain(selection: Selection): boolean {
  return selection.version === undefined && isWhole(selection)
}
