// Writes lines in batches and never blocks the caller. Failed writes are retried; if too many bytes
// wait, new lines are dropped.

import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { systemCode } from '../config/operator-error.ts'

/** Lines are written once they reach this size, or after this time. */
const batchBytes = 65_536
const batchMs = 100
/** The first pause if the output is full; it doubles up to the time of a batch. */
const pauseMsMin = 5
/** How long writing the last lines may take: at an orderly stop, and at a sudden exit. */
const closeMs = 1_000
const exitMs = 500

/** Formats the line that takes the place of dropped lines, with their number. */
type DroppedLine = (count: number) => string

export type LineWriter = ReturnType<typeof createLineWriter>

/** Accepts lines and writes them in the background. */
export function createLineWriter(output: LogOutput, droppedLine: DroppedLine) {
  const backlog = createBacklog(output.pieceBytesMax, droppedLine)
  let timer: NodeJS.Timeout | undefined
  let pauseMs = 0
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
    writing ??= writeArrived().then(() => {
      writing = undefined
      if (pauseMs === 0 && backlog.bytes() >= batchBytes) void flush()
      else if (backlog.bytes() > 0) schedule(pauseMs || batchMs)
    })
    return writing
  }

  /** Lines that arrive meanwhile are of the next batch: many short writes cost far more. */
  async function writeArrived(): Promise<void> {
    let left = backlog.bytes()
    try {
      while (left > 0) {
        const written = await output.write(backlog.next())
        backlog.take(written)
        left -= written
        pauseMs = 0
      }
    } catch (error) {
      // A reader is slow for a moment, a disk full for longer.
      const isMoment = isFull(error)
      pauseMs = isMoment ? Math.min(Math.max(pauseMsMin, pauseMs * 2), batchMs) : batchMs
    }
  }

  async function flushAll(): Promise<void> {
    while (backlog.bytes() > 0 && !isClosed) {
      await flush()
      await sleep(pauseMs)
    }
  }

  return {
    write(line: string): void {
      backlog.add(line)
      if (pauseMs > 0 || writing !== undefined) return
      if (backlog.bytes() >= batchBytes) void flush()
      else schedule(batchMs)
    },
    /** The number of lines dropped so far. */
    dropped: backlog.dropped,
    /** Waits until all lines are written, for at most a second. */
    async close(): Promise<void> {
      backlog.noteDropped()
      await Promise.race([flushAll(), sleep(closeMs, undefined, { ref: false })])
      isClosed = true
    },
    /** Writes the remaining lines synchronously, as far as possible without an event loop. */
    writeLast(): void {
      backlog.noteDropped()
      // Another thread is writing this piece and will finish it.
      if (writing !== undefined) backlog.skip()
      writeRest(backlog, output, isClosed ? 0 : exitMs)
    },
  }
}

type Backlog = ReturnType<typeof createBacklog>

/** Writes everything synchronously, and waits at most `waitMsMax` for a full output. */
function writeRest(backlog: Backlog, output: LogOutput, waitMsMax: number): void {
  const until = performance.now() + waitMsMax
  while (backlog.bytes() > 0) {
    try {
      backlog.take(output.writeSync(backlog.next()))
    } catch (error) {
      if (!isFull(error) || performance.now() > until) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMsMin)
    }
  }
}

/** Whether the pipe or socket is full because its reader is slow or stopped. */
function isFull(error: unknown): boolean {
  return systemCode(error) === 'EAGAIN'
}

/** The largest backlog, in bytes. */
const backlogBytesMax = 1_048_576
/** After lines were dropped, new ones are accepted once the backlog has shrunk to this. */
const backlogBytesCalm = backlogBytesMax / 2

/**
 * Lines that wait, joined into pieces, in order of arrival. Their total size is bounded; lines
 * beyond it are dropped and counted.
 *
 * @param pieceBytesMax bounds a piece of whole lines; a longer line is a piece of its own.
 */
function createBacklog(pieceBytesMax: number, droppedLine: DroppedLine) {
  const pieces: { text: string; bytes: number }[] = []
  /** The rest of the piece that is being written. */
  let current: Uint8Array | undefined
  let bytes = 0
  let missing = 0
  let dropped = 0

  function append(line: string, lineBytes: number): void {
    const last = pieces.at(-1)
    if (last !== undefined && last.bytes + lineBytes <= pieceBytesMax) {
      last.text += line
      last.bytes += lineBytes
    } else pieces.push({ text: line, bytes: lineBytes })
    bytes += lineBytes
  }

  function noteDropped(): void {
    if (missing === 0) return
    const line = droppedLine(missing)
    missing = 0
    append(line, Buffer.byteLength(line))
  }

  function take(taken: number): void {
    current = current && taken < current.length ? current.subarray(taken) : undefined
    bytes -= taken
    if (bytes <= backlogBytesCalm) noteDropped()
  }

  return {
    add(line: string): void {
      const lineBytes = Buffer.byteLength(line)
      // Once a line is dropped, so are all others until many fit: one gap, not hundreds.
      if (missing > 0 || bytes + lineBytes > backlogBytesMax) {
        missing += 1
        dropped += 1
      } else append(line, lineBytes)
    },
    /** The bytes to write next, the same until they are taken; none if none wait. */
    next: () => (current ??= Buffer.from(pieces.shift()?.text ?? '')),
    /** Removes this many of the next bytes. */
    take,
    skip: () => take(current?.length ?? 0),
    /** Adds a line with the number of dropped lines, if there are any. */
    noteDropped,
    bytes: () => bytes,
    dropped: () => dropped,
  }
}

/** Writes bytes in order, one write at a time. */
export interface LogOutput {
  /** The maximum size of a piece of whole lines, in bytes. */
  readonly pieceBytesMax: number
  /**
   * Writes as many of the bytes as possible now, in another thread where that could wait.
   *
   * @returns the number of bytes written.
   * @throws Error with the code EAGAIN if the output is full, or another such as ENOSPC.
   */
  write(bytes: Uint8Array): Promise<number> | number
  /** Writes synchronously, for a process that is ending. */
  writeSync(bytes: Uint8Array): number
}

const writeAsync = promisify(write)

/**
 * If several processes write to one pipe, POSIX keeps writes of up to this size whole (PIPE_BUF on
 * Linux), and so keeps lines whole. Writes to a file are always whole.
 */
const pipePieceBytes = 4_096
/** A batch fits into one write. */
const filePieceBytes = 131_072

/**
 * Opens standard output, or another descriptor.
 *
 * A pipe or terminal is opened a second time, so that writes that would block fail instead, without
 * affecting other processes that share the descriptor. A socket cannot be opened again, but Node
 * has already made it non-blocking. A write to a file never fails because it would block.
 */
export function openLogOutput(descriptor: number): LogOutput {
  const isFile = fstatSync(descriptor).isFile()
  const opened = isFile ? descriptor : reopen(descriptor)
  const writeNow = (bytes: Uint8Array) => writeSync(opened, bytes)
  return {
    pieceBytesMax: isFile ? filePieceBytes : pipePieceBytes,
    // Waking a thread for each piece costs 4 us a request; what was opened again never waits.
    write:
      opened === descriptor
        ? async (bytes) => (await writeAsync(opened, bytes)).bytesWritten
        : writeNow,
    writeSync: writeNow,
  }
}

/** Opens the descriptor again without blocking; returns it unchanged if that is not possible. */
function reopen(descriptor: number): number {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return descriptor
  }
}
