// Makes views from a file: small ones at once, large ones in a thread.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import { viewOf, type ViewQuery } from '../sql/view.ts'
import type { View } from '../views.ts'
import { dialect } from './dialect.ts'
import type { ViewTask } from './view-worker.ts'

/** How long the thread stays after its last view, in milliseconds. */
const idleMs = 60_000

/** Makes a view on a connection, which it holds up meanwhile. */
export function readView(db: DatabaseSync, { sql, values }: ViewQuery): View {
  return viewOf(dialect, db.prepare(sql).all(values as Record<string, SQLInputValue>))
}

export interface ViewMaker {
  readonly make: (resource: Resource, query: ViewQuery, isLarge: boolean) => Promise<View>
  close(): void
}

type Answer = { readonly task: number; readonly view?: View; readonly error?: unknown }

/** @param db the connection on which small views are made. */
export function createViewMaker(db: DatabaseSync): ViewMaker {
  const waiting = new Map<number, PromiseWithResolvers<View>>()
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let tasks = 0

  function start(): Worker {
    const started = new Worker(new URL('view-worker.ts', import.meta.url), {
      workerData: db.location(),
    })
    started.unref()
    started.on('message', ({ task, view, error }: Answer) => {
      const asked = waiting.get(task)
      waiting.delete(task)
      if (view === undefined) asked?.reject(error)
      else asked?.resolve(view)
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

  return {
    make(_, query, isLarge) {
      if (!isLarge) return Promise.resolve().then(() => readView(db, query))
      clearTimeout(idle)
      thread ??= start()
      const asked = Promise.withResolvers<View>()
      const task = (tasks += 1)
      waiting.set(task, asked)
      thread.postMessage({ task, query } satisfies ViewTask)
      return asked.promise
    },
    close: stop,
  }
}
