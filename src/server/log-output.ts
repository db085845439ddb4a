// Standard output as the destination of the log; writes never block.

import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { promisify } from 'node:util'

/** Writes bytes in order, one write at a time. */
export interface LogOutput {
  /** The maximum size of a piece of whole lines, in bytes. */
  readonly pieceBytesMax: number
  /**
   * Writes as many of the bytes as possible now, in another thread.
   *
   * @returns the number of bytes written.
   * @throws Error with the code EAGAIN if there is no room, or another such as ENOSPC.
   */
  write(bytes: Uint8Array): Promise<number>
  /** Writes synchronously, for a process that is ending. */
  writeSync(bytes: Uint8Array): number
}

const writeAsync = promisify(write)

/**
 * If several processes write to one pipe, POSIX keeps writes of up to this size whole (PIPE_BUF on
 * Linux), and so keeps lines whole. Writes to a file are always whole.
 */
const pipePieceBytes = 4_096
/** A batch fits into one write (line-writer.ts). */
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
  return {
    pieceBytesMax: isFile ? filePieceBytes : pipePieceBytes,
    write: async (bytes) => (await writeAsync(opened, bytes)).bytesWritten,
    writeSync: (bytes) => writeSync(opened, bytes),
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
