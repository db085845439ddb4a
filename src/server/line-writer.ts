// Writes lines in batches and never blocks the caller. Failed writes are retried; if too many bytes
// wait, new lines are dropped (backlog.ts).

import { setTimeout as sleep } from 'node:timers/promises'
import { type Backlog, createBacklog, type DroppedLine } from './backlog.ts'
import type { LogOutput } from './log-output.ts'

/** Lines are written once they reach this size, or after this time. */
const batchBytes = 65_536
const batchMs = 100
/** The first pause if the output is full; it doubles up to the time of a batch. */
const pauseMsMin = 5
/** How long writing the last lines may take: at an orderly stop, and at a sudden exit. */
const closeMs = 1_000
const exitMs = 500

/** Accepts lines and writes them in the background. */
export interface LineWriter {
  readonly write: (line: string) => void
  /** The number of lines dropped so far. */
  readonly dropped: () => number
  /** Waits until all lines are written, for at most a second. */
  readonly close: () => Promise<void>
  /** Writes the remaining lines synchronously, as far as possible without an event loop. */
  readonly writeLast: () => void
}

export function createLineWriter(output: LogOutput, droppedLine: DroppedLine): LineWriter {
  const backlog = createBacklog(output.pieceBytesMax, droppedLine)
  let timer: NodeJS.Timeout | undefined
  let pauseMs = 0
  let failure: unknown
  let writing: Promise<void> | undefined
  let isClosed = false

  function schedule(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
    }, ms).unref()
  }

  /** Writes the lines that have arrived, and retries later what could not be written. */
  function flush(): Promise<void> {
    writing ??= writeArrived(backlog, output).then(({ bytes, error }) => {
      writing = undefined
      failure = error
      pauseMs = error === undefined ? 0 : pauseAfter(error, bytes > 0 ? 0 : pauseMs)
      if (error === undefined && backlog.bytes() >= batchBytes) void flush()
      else if (backlog.bytes() > 0) schedule(pauseMs || batchMs)
    })
    return writing
  }

  /** Waits for a slow reader, but for no other failure. */
  async function flushAll(): Promise<void> {
    for (;;) {
      await flush()
      if (isClosed || (failure === undefined ? backlog.bytes() === 0 : !isFull(failure))) return
      await sleep(pauseMsMin)
    }
  }

  return {
    write(line) {
      backlog.add(line)
      if (pauseMs > 0 || writing !== undefined) return
      if (backlog.bytes() >= batchBytes) void flush()
      else schedule(batchMs)
    },
    dropped: backlog.dropped,
    async close() {
      backlog.noteDropped()
      await within(closeMs, flushAll())
      isClosed = true
    },
    writeLast() {
      backlog.noteDropped()
      // Another thread is writing this piece and will finish it.
      if (writing !== undefined) backlog.skip()
      writeNow(backlog, output, isClosed ? 0 : exitMs)
    },
  }
}

/** What a batch has come to: the bytes written, and why others could not be. */
interface Outcome {
  readonly bytes: number
  readonly error: unknown
}

/** Lines that arrive meanwhile are of the next batch: many short writes cost far more. */
async function writeArrived(backlog: Backlog, output: LogOutput): Promise<Outcome> {
  const arrived = backlog.bytes()
  let bytes = 0
  try {
    while (bytes < arrived) {
      const next = backlog.next()
      if (next === undefined) break
      const written = await output.write(next)
      backlog.take(written)
      bytes += written
    }
    return { bytes, error: undefined }
  } catch (error) {
    return { bytes, error }
  }
}

/** How long to wait after a failure: a reader is slow for a moment, a disk full for longer. */
function pauseAfter(error: unknown, lastMs: number): number {
  return isFull(error) ? Math.min(Math.max(pauseMsMin, lastMs * 2), batchMs) : batchMs
}

/** Writes everything synchronously, and waits at most `waitMsMax` for room. */
function writeNow(backlog: Backlog, output: LogOutput, waitMsMax: number): void {
  const until = performance.now() + waitMsMax
  for (let next = backlog.next(); next !== undefined; next = backlog.next()) {
    try {
      backlog.take(output.writeSync(next))
    } catch (error) {
      if (!isFull(error) || performance.now() > until) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMsMin)
    }
  }
}

/** Waits until `done` settles, but at most `ms` milliseconds. */
async function within(ms: number, done: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, Math.max(0, ms), undefined)
  await Promise.race([promise, done])
  clearTimeout(timer)
}

/** Whether the pipe or socket is full because its reader is slow or stopped. */
function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}
