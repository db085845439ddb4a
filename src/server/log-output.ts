// Standard output as the log's destination, written to without ever blocking.

import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import type { Awaitable } from '../store/awaitable.ts'

/** Takes bytes in order; one write at a time. */
export interface LogOutput {
  /** Whole lines are written in pieces of so many bytes. */
  readonly pieceBytesMax: number
  /**
   * Writes as much as can be written now.
   *
   * @returns how many bytes were taken.
   * @throws Error whose code is EAGAIN where there is no room, others such as ENOSPC.
   */
  write(bytes: Uint8Array): Awaitable<number>
  /** The same at once, for a process that ends. */
  writeSync(bytes: Uint8Array): number
  /** Whether a write is under way in another thread. */
  isBusy(): boolean
}

/**
 * Where several processes write to one pipe, POSIX keeps writes of up to so many bytes whole
 * (PIPE_BUF of Linux), and so lines. A file keeps all writes whole.
 */
const pipePieceBytes = 4_096
const filePieceBytes = 65_536

/**
 * Opens standard output, or another descriptor.
 *
 * A pipe and a terminal are opened once more, so that writes that would block fail instead, and
 * other processes that share the descriptor are not affected. A socket cannot be opened again; Node
 * has made it non-blocking already. A file never says that it would block, so it is written by
 * another thread.
 */
export function openLogOutput(descriptor: number): LogOutput {
  if (fstatSync(descriptor).isFile()) return fileOutput(descriptor)
  const opened = reopen(descriptor)
  const writeNow = (bytes: Uint8Array) => writeSync(opened, bytes)
  const isBusy = () => false
  return { pieceBytesMax: pipePieceBytes, write: writeNow, writeSync: writeNow, isBusy }
}

/** The descriptor itself where the system does not open it again. */
function reopen(descriptor: number): number {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return descriptor
  }
}

function fileOutput(descriptor: number): LogOutput {
  let isBusy = false
  return {
    pieceBytesMax: filePieceBytes,
    write(bytes) {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      isBusy = true
      write(descriptor, bytes, (error, written) => {
        isBusy = false
        if (error) reject(error)
        else resolve(written)
      })
      return promise
    },
    writeSync: (bytes) => writeSync(descriptor, bytes),
    isBusy: () => isBusy,
  }
}
