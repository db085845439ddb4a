// The way to standard output and standard error. All that a command prints goes through here, and
// nothing that comes from outside reaches a terminal as a control sequence.

import { fsyncSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { printable, printableJson, printableLines } from '../printable.ts'

/** One of the two streams that a command prints to. */
export interface Output {
  readonly isTTY: boolean
  /** The stream itself, for control sequences of our own: those of the progress bar. */
  readonly terminal: NodeJS.WriteStream
  /** Prints text of several lines; only the line breaks in it stay what they are. */
  write(text: string): void
  /** Prints each text as one line, whatever is in it. */
  writeLines(...lines: readonly string[]): void
  /** Prints a value as one line of JSON. */
  writeJson(value: unknown): void
  /** Replaces the line that the cursor is on; prints nothing elsewhere than on a terminal. */
  showStatus(text: string): void
  /**
   * Prints a line, and resolves once the system has it, a file's disk included.
   *
   * @throws what the system says, where it cannot be written.
   */
  deliverLine(line: string): Promise<void>
  /** Waits until all is written; gives what the system said first where something is not. */
  fault(): Promise<NodeJS.ErrnoException | undefined>
}

/** A stream of the process with its descriptor. */
type Stream = NodeJS.WriteStream & { readonly fd: number }

/** Makes an output of one of the process's streams. */
export function createOutput(stream: Stream): Output {
  let pending: Promise<void> = Promise.resolve()
  let fault: NodeJS.ErrnoException | undefined

  function put(text: string): void {
    const written = writeAll(stream, text).catch((error: unknown) => {
      fault ??= error as NodeJS.ErrnoException
    })
    pending = pending.then(() => written)
  }

  return {
    isTTY: stream.isTTY,
    terminal: stream,
    write: (text) => put(printableLines(text)),
    writeLines: (...lines) => put(lines.map((line) => `${printable(line)}\n`).join('')),
    writeJson(value) {
      const json = JSON.stringify(value)
      put(`${stream.isTTY ? printableJson(json) : json}\n`)
    },
    showStatus(text) {
      if (stream.isTTY) put(`\r${printable(text)}\u001b[K`)
    },
    async deliverLine(line) {
      await pending
      await writeAll(stream, `${printable(line)}\n`)
      flush(stream)
    },
    async fault() {
      await pending
      return fault
    },
  }
}

/** The runtime's own stream of a file takes no notice where only a part has been written. */
async function writeAll(stream: Stream, text: string): Promise<void> {
  if (!isFile(stream)) {
    await new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()))
    })
    return
  }
  for (let bytes = Buffer.from(text); bytes.length > 0;) {
    bytes = bytes.subarray(writeSync(stream.fd, bytes))
  }
}

/** Has a file's bytes on the disk: on some file systems it is full only then. */
function flush(stream: Stream): void {
  if (!isFile(stream)) return
  try {
    fsyncSync(stream.fd)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (['ENOSPC', 'EDQUOT', 'EIO'].includes(code)) throw error
    // What is no file of a disk, such as /dev/null, has nothing to flush.
  }
}

/** True for a file and for a device; false for a terminal, a pipe and a socket. */
function isFile(stream: Stream): boolean {
  return !(stream instanceof Socket)
}
