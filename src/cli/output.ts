// Standard output and standard error. Everything that a command prints goes through here, so no
// control sequence from outside reaches a terminal.

import { fsyncSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { systemCode } from '../config/operator-error.ts'
import { printable, printableJson, printableLines } from '../text/printable.ts'

/** One of the two streams that a command prints to. */
export type Output = ReturnType<typeof createOutput>

/** A stream of the process with its descriptor. */
type Stream = NodeJS.WriteStream & { readonly fd: number }

/** Control sequences of terminals; what does not fit into the line is not shown. */
const [clearLine, noWrap, wrap] = ['\r\u001b[K', '\u001b[?7l', '\u001b[?7h']

/**
 * Creates an output for one of the process's streams.
 *
 * @param beside the other one, whose status line ends when something is printed here.
 */
export function createOutput(stream: Stream, beside?: { endStatus(): void }) {
  let pending: Promise<void> = Promise.resolve()
  let fault: NodeJS.ErrnoException | undefined
  let hasStatus = false

  function put(text: string): void {
    beside?.endStatus()
    const written = writeAll(stream, hasStatus ? clearLine + text : text).catch(
      (error: unknown) => {
        fault ??= error as NodeJS.ErrnoException
      },
    )
    pending = pending.then(() => written)
    hasStatus = false
  }

  return {
    isTTY: stream.isTTY,
    /** Prints text of several lines; all control characters except line breaks are escaped. */
    write: (text: string) => put(printableLines(text)),
    /** Prints each text as one line; all control characters are escaped. */
    writeLines: (...lines: readonly string[]) =>
      put(lines.map((line) => `${printable(line)}\n`).join('')),
    /** Prints a value as one line of JSON. */
    writeJson(value: unknown): void {
      const json = JSON.stringify(value)
      put(`${stream.isTTY ? printableJson(json) : json}\n`)
    },
    /**
     * Prints lines of records as they are, and resolves once the system has accepted them; on a
     * terminal, control characters except line breaks are escaped.
     *
     * @returns false if they cannot be written; see `fault`.
     */
    async writeData(text: string): Promise<boolean> {
      put(stream.isTTY ? printableLines(text.replaceAll('\r\n', '\n')) : text)
      await pending
      return fault === undefined
    },
    /**
     * Shows a line until something else is shown, or printed on either stream; does nothing if the
     * output is not a terminal.
     */
    showStatus(text: string): void {
      if (!stream.isTTY) return
      put(noWrap + printable(text) + wrap)
      hasStatus = true
    },
    endStatus(): void {
      if (hasStatus) put('')
    },
    /**
     * Prints a line, and resolves once the system has accepted it; a file is flushed to the disk.
     *
     * @throws the system's error if it cannot be written.
     */
    async deliverLine(line: string): Promise<void> {
      await pending
      await writeAll(stream, `${printable(line)}\n`)
      flush(stream)
    },
    /** Waits until everything is written; resolves to the first error of the system, if any. */
    async fault() {
      await pending
      return fault
    },
  }
}

/** Writes all of a text; the runtime's own stream of a file ignores partial writes. */
async function writeAll(stream: Stream, text: string): Promise<void> {
  if (!isFile(stream)) {
    await new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()))
    })
    return
  }
  writeFileSync(stream.fd, Buffer.from(text))
}

/** Flushes a file to the disk: some file systems report only then that they are full. */
function flush(stream: Stream): void {
  if (!isFile(stream)) return
  try {
    fsyncSync(stream.fd)
  } catch (error) {
    if (['ENOSPC', 'EDQUOT', 'EIO'].includes(systemCode(error))) throw error
    // A device such as /dev/null has nothing to flush.
  }
}

/** True for a file and for a device; false for a terminal, a pipe and a socket. */
function isFile(stream: Stream): boolean {
  return !(stream instanceof Socket)
}
