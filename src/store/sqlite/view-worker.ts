// A thread that makes large views, so that a scan of a long listing holds nobody up.

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { ViewQuery } from '../sql/view.ts'
import { readView } from './view.ts'

/** A query, by a number that its answer repeats. */
export interface ViewTask {
  readonly task: number
  readonly query: ViewQuery
}

const db = new DatabaseSync(String(workerData), { readOnly: true, timeout: 5_000 })

parentPort?.on('message', ({ task, query }: ViewTask) => {
  try {
    const view = readView(db, query)
    parentPort?.postMessage({ task, view }, [view.entries.buffer as ArrayBuffer])
  } catch (error) {
    parentPort?.postMessage({ task, error })
  }
})
