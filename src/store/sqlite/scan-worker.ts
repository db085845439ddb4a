// A thread that makes large views and counts long listings, so that no scan holds anybody up.

import { parentPort, workerData } from 'node:worker_threads'
import type { CountQuery, CountRow } from '../sql/count-values.ts'
import type { ViewQuery } from '../sql/view.ts'
import type { View } from '../views.ts'
import { openForInspecting } from './open.ts'
import { readCounts, readView } from './scans.ts'

/** A query, by a number that its answer repeats. */
export interface ScanTask {
  readonly task: number
  readonly query: { readonly view: ViewQuery } | { readonly counts: CountQuery }
}

/** The answer to a task: an error, or what it asks for. */
export interface ScanAnswer {
  readonly task: number
  readonly result?: View | readonly CountRow[]
  readonly error?: unknown
}

const db = openForInspecting(String(workerData), [])

parentPort?.on('message', ({ task, query }: ScanTask) => {
  try {
    if ('view' in query) {
      const view = readView(db, query.view)
      const answer: ScanAnswer = { task, result: view }
      parentPort?.postMessage(answer, [view.entries.buffer as ArrayBuffer])
    } else {
      parentPort?.postMessage({ task, result: readCounts(db, query.counts) } satisfies ScanAnswer)
    }
  } catch (error) {
    parentPort?.postMessage({ task, error } satisfies ScanAnswer)
  }
})
