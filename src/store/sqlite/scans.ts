// Scans of a file: makes views, small ones at once and large ones in a thread, which counts the
// values of long listings, too.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import type { CountQuery, CountRow } from '../sql/count-values.ts'
import { viewOf, type ViewQuery } from '../sql/view.ts'
import type { View } from '../views.ts'
import { dialect } from './dialect.ts'
import type { ScanAnswer, ScanTask } from './scan-worker.ts'
import { numbered, prepareRow } from './statements.ts'

/** How long the thread stays after its last scan, in milliseconds. */
const idleMs = 60_000

/** Makes a view on a connection, which it holds up meanwhile. */
export function readView(db: DatabaseSync, { sql, values }: ViewQuery): View {
  return viewOf(dialect, db.prepare(sql).all(values as Record<string, SQLInputValue>))
}

/** Counts values on a connection, which it holds up meanwhile. */
export function readCounts(db: DatabaseSync, { sql, values }: CountQuery): readonly CountRow[] {
  return prepareRow(db, numbered(sql)).all(...values) as unknown as CountRow[]
}

export interface Scans {
  readonly makeView: (resource: Resource, query: ViewQuery, isLarge: boolean) => Promise<View>
  readonly count: (query: CountQuery) => Promise<readonly CountRow[]>
  close(): void
}

/** @param db the connection on which small views are made. */
export function createScans(db: DatabaseSync): Scans {
  const waiting = new Map<number, PromiseWithResolvers<View | readonly CountRow[]>>()
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let tasks = 0

  function start(): Worker {
    const started = new Worker(new URL('scan-worker.ts', import.meta.url), {
      workerData: db.location(),
    })
    started.unref()
    started.on('message', ({ task, result, error }: ScanAnswer) => {
      const asked = waiting.get(task)
      waiting.delete(task)
      if (result === undefined) asked?.reject(error)
      else asked?.resolve(result)
      if (waiting.size === 0) idle = setTimeout(stop, idleMs).unref()
    })
    // A thread that ends early, for want of memory or files, takes no server with it.
    started.on('error', fail)
    return started
  }

  function fail(error: unknown): void {
    thread = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  function stop(): void {
    clearTimeout(idle)
    void thread?.terminate()
    fail(new Error('the store was closed'))
  }

  function ask(query: ScanTask['query']): Promise<View | readonly CountRow[]> {
    clearTimeout(idle)
    thread ??= start()
    const asked = Promise.withResolvers<View | readonly CountRow[]>()
    const task = (tasks += 1)
    waiting.set(task, asked)
    thread.postMessage({ task, query } satisfies ScanTask)
    return asked.promise
  }

  return {
    makeView(_, view, isLarge) {
      if (!isLarge) return Promise.resolve().then(() => readView(db, view))
      return ask({ view }) as Promise<View>
    },
    count: (counts) => ask({ counts }) as Promise<readonly CountRow[]>,
    close: stop,
  }
}
