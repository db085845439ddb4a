// Writes lines in batches and never blocks the caller. Failed writes are retried; if too many bytes
// wait, new lines are dropped.
//
// pino's own destination is not used: if the disk fills at its last flush, it tries without an end,
// and a server cannot be stopped.

import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { systemCode } from '../config/operator-error.ts'

/** Lines are written once they have this many characters, or after this time. */
const batchLength = 65_536
const batchMs = 100
/** The pause after a failed write: a reader is slow for a moment. */
const retryMs = 20
/** How long the end of the process may wait for its last lines. */
const exitMs = 1_000
/** How much may wait, in characters; once lines were dropped, new ones come from half of it on. */
const backlogMax = 1_048_576

/** @param droppedLine makes the line that takes the place of dropped ones, with their number. */
export function createLineWriter(descriptor: number, droppedLine: (count: number) => string) {
  const output = openOutput(descriptor)
  /** The lines that have arrived, and what is left of the batch before them. */
  let arrived = ''
  let batch = Buffer.alloc(0)
  let missing = 0
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let isWriting = false
  let isFailing = false

  /** Writes the lines that have arrived: now if they are many, else soon. */
  function writeSoon(): void {
    if (isWriting || (batch.length === 0 && arrived === '')) return
    if (arrived.length >= batchLength && !isFailing) void writeBatch()
    else timer ??= setTimeout(() => void writeBatch(), isFailing ? retryMs : batchMs).unref()
  }

  async function writeBatch(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    isWriting = true
    // Lines that arrive meanwhile are of the next batch: many short writes cost far more.
    if (batch.length === 0) takeArrived()
    try {
      while (batch.length > 0) batch = batch.subarray(await output.write(output.pieceOf(batch)))
      isFailing = false
    } catch {
      isFailing = true
    }
    isWriting = false
    if (batch.length + arrived.length <= backlogMax / 2) noteDropped()
    writeSoon()
  }

  function takeArrived(): void {
    batch = Buffer.concat([batch, Buffer.from(arrived)])
    arrived = ''
  }

  /** Adds a line with the number of dropped lines, if there are any. */
  function noteDropped(): void {
    if (missing > 0) arrived += droppedLine(missing)
    missing = 0
  }

  return {
    write(line: string): void {
      // Once a line is dropped, so are all others until many fit: one gap, not hundreds.
      if (missing > 0 || batch.length + arrived.length + line.length > backlogMax) {
        missing += 1
        dropped += 1
      } else arrived += line
      writeSoon()
    },
    /** The number of lines dropped so far. */
    dropped: () => dropped,
    /** Writes the remaining lines synchronously, as far as possible without an event loop. */
    writeLast(): void {
      // Another thread is writing this piece and will finish it.
      if (isWriting) batch = batch.subarray(output.pieceOf(batch).length)
      noteDropped()
      takeArrived()
      writeAllNow(output, batch)
    },
  }
}

function writeAllNow({ pieceOf, writeSync }: Output, batch: Buffer): void {
  const until = performance.now() + exitMs
  for (let rest = batch; rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(pieceOf(rest)))
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN' || performance.now() > until) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
    }
  }
}

const writeAsync = promisify(write)

/**
 * If several processes write to one pipe, as workers do, POSIX keeps writes of up to this size
 * whole (PIPE_BUF on Linux), and so keeps entries whole. Writes to a file are always whole.
 */
export const pipePieceBytes = 4_096

const [lineFeed, blank] = [0x0a, 0x20]

/** Whether an entry ends before a place: in the readable form, its further lines are indented. */
const isEnd = (batch: Buffer, at: number) => batch[at - 1] === lineFeed && batch[at] !== blank

/** The bytes to write at once to a pipe: whole entries, unless one is longer than such a piece. */
export function pieceOfPipe(batch: Buffer): Buffer {
  if (batch.length <= pipePieceBytes) return batch
  let end = pipePieceBytes
  while (end > 0 && !isEnd(batch, end)) end -= 1
  if (end > 0) return batch.subarray(0, end)
  for (end = pipePieceBytes; end < batch.length && !isEnd(batch, end);) end += 1
  return batch.subarray(0, end)
}

type Output = ReturnType<typeof openOutput>

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
    pieceOf: isFile ? (batch: Buffer) => batch : pieceOfPipe,
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
