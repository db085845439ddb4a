// Queries PostgreSQL synchronously, as SQLite allows: another thread waits.

import assert from 'node:assert/strict'
import type { SQLOutputValue } from 'node:sqlite'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { patienceMs } from './until.ts'

export type QueriedRow = Record<string, SQLOutputValue>

let ask: ((db: string, sql: string) => unknown) | undefined

export function queryServer(db: string, sql: string): QueriedRow[] {
  ask ??= startThread()
  const { rows, error } = ask(db, sql) as { rows?: QueriedRow[]; error?: string }
  assert.ok(rows, `${sql}: ${error ?? 'no answer'}`)
  return rows
}

function startThread(): (db: string, sql: string) => unknown {
  const { port1, port2 } = new MessageChannel()
  const isAnswered = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('query.ts', import.meta.url), {
    workerData: { port: port2, isAnswered },
    transferList: [port2],
  })
  // A test's process ends when its tests have.
  worker.unref()
  port1.unref()
  return (db, sql) => {
    Atomics.store(isAnswered, 0, 0)
    port1.postMessage({ db, sql })
    // It may be answered already.
    assert.notEqual(Atomics.wait(isAnswered, 0, 0, patienceMs), 'timed-out', `in vain: ${sql}`)
    return receiveMessageOnPort(port1)?.message as unknown
  }
}
