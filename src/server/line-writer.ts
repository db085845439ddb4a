// Writes lines in batches and never blocks the caller. Failed writes are retried; if too many bytes
// wait, new lines are dropped.
//
// pino's own destination is not used: if the disk fills at its last flush, it tries without an end,
// and a server cannot be stopped.

import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { systemCode } from '../config/operator-error.ts'

/** Lines are written once they reach this size, or after this time. */
const batchBytes = 65_536
const batchMs = 100
/** The pause after a failed write: a reader is slow for a moment. */
const retryMs = 20
/** How long the end of the process may wait for its last lines. */
const exitMs = 1_000
/** How many bytes may wait; once lines were dropped, new ones are accepted from half of that on. */
const backlogBytesMax = 1_048_576

/** Formats the line that takes the place of dropped lines, with their number. */
type DroppedLine = (count: number) => string

export function createLineWriter(descriptor: number, droppedLine: DroppedLine) {
  const output = openOutput(descriptor)
  const backlog = createBacklog(output.pieceBytesMax, droppedLine)
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isFailing = false

  /** Writes the lines that have arrived: now if they are many, else soon. */
  function writeSoon(): void {
    if (writing !== undefined || backlog.bytes() === 0) return
    if (backlog.bytes() >= batchBytes && !isFailing) void flush()
    else timer ??= setTimeout(() => void flush(), isFailing ? retryMs : batchMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing ??= writeArrived().then(() => {
      writing = undefined
      writeSoon()
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
      }
      isFailing = false
    } catch {
      isFailing = true
    }
  }

  return {
    write(line: string): void {
      backlog.add(line)
      writeSoon()
    },
    /** The number of lines dropped so far. */
    dropped: backlog.dropped,
    /** Writes the remaining lines synchronously, as far as possible without an event loop. */
    writeLast(): void {
      backlog.noteDropped()
      // Another thread is writing this piece and will finish it.
      if (writing !== undefined) backlog.skip()
      const until = performance.now() + exitMs
      while (backlog.bytes() > 0) {
        try {
          backlog.take(output.writeSync(backlog.next()))
        } catch (error) {
          if (systemCode(error) !== 'EAGAIN' || performance.now() > until) return
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
        }
      }
    },
  }
}

/**
 * Lines that wait, joined into pieces, in order of arrival.
 *
 * @param pieceBytesMax bounds a piece of whole lines; a longer line is a piece of its own.
 */
function createBacklog(pieceBytesMax: number, droppedLine: DroppedLine) {
  const pieces: { text: string; bytes: number }[] = []
  /** The rest of the piece that is being written. */
  let current = Buffer.alloc(0)
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

  /** Adds a line with the number of dropped lines, if there are any. */
  function noteDropped(): void {
    if (missing === 0) return
    const line = droppedLine(missing)
    missing = 0
    append(line, Buffer.byteLength(line))
  }

  function take(written: number): void {
    current = current.subarray(written)
    bytes -= written
    if (bytes <= backlogBytesMax / 2) noteDropped()
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
    next(): Buffer {
      if (current.length === 0) current = Buffer.from(pieces.shift()?.text ?? '')
      return current
    },
    take,
    skip: () => take(current.length),
    noteDropped,
    bytes: () => bytes,
    dropped: () => dropped,
  }
}

const writeAsync = promisify(write)

/**
 * If several processes write to one pipe, as workers do, POSIX keeps writes of up to this size
 * whole (PIPE_BUF on Linux), and so keeps lines whole. Writes to a file are always whole.
 */
const pipePieceBytes = 4_096
/** A batch fits into one write. */
const filePieceBytes = 131_072

/**
 * Opens standard output, or another descriptor. Its writes return the number of bytes written, or
 * fail with EAGAIN if it is full.
 *
 * A pipe or terminal is opened a second time, so that writes that would block fail instead, without
 * affecting other processes that share it. A file, and what cannot be opened again, such as a
 * socket, is written in another thread.
 */
function openOutput(descriptor: number) {
  const isFile = fstatSync(descriptor).isFile()
  const opened = isFile ? descriptor : reopen(descriptor)
  const writeNow = (bytes: Uint8Array) => writeSync(opened, bytes)
  return {
    pieceBytesMax: isFile ? filePieceBytes : pipePieceBytes,
    // Waking a thread for each piece costs 4 us a request; what was opened again never waits.
    write:
      opened === descriptor
        ? async (bytes: Uint8Array) => (await writeAsync(opened, bytes)).bytesWritten
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
