// Makes folders and files for temporary data; appends to such files and reads them.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, symlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError, systemCode } from '../config/operator-error.ts'
import { privateMode } from './new-file.ts'

/** Makes a new folder; its name begins with `dossier-` and the purpose. */
export function makeTemporaryFolder(purpose: string): string {
  return orTemporaryError(() => mkdtempSync(join(tmpdir(), `dossier-${purpose}-`)))
}

export function removeTemporaryFolder(folder: string): void {
  orTemporaryError(() => rmSync(folder, { recursive: true, force: true }))
}

/** Makes a file without a name, which is gone when it is closed; returns its descriptor. */
function openTemporaryFile(): number {
  const folder = makeTemporaryFolder('import')
  try {
    return createTemporaryFile(join(folder, 'rows'))
  } finally {
    removeTemporaryFolder(folder)
  }
}

/** Creates a file in a folder for temporary data; returns its descriptor. */
export function createTemporaryFile(path: string): number {
  return orTemporaryError(() => openSync(path, 'wx+', privateMode))
}

/** Makes a link to a file in such a folder. */
export function linkTemporary(target: string, path: string): void {
  orTemporaryError(() => symlinkSync(target, path))
}

/** Appends bytes to such a file. */
export function writeTemporary(file: number, bytes: Buffer): void {
  orTemporaryError(() => {
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
  })
}

const bufferBytes = 262_144

/** Bytes of a temporary file, and their place in it. */
interface TemporaryPart {
  readonly at: number
  readonly bytes: Buffer
}

/** Makes a file without a name, to which bytes are appended through a buffer. */
export function openTemporaryBytes() {
  const file = openTemporaryFile()
  let buffer = Buffer.allocUnsafeSlow(bufferBytes)
  let start = 0
  let filled = 0
  function flush(): void {
    writeTemporary(file, buffer.subarray(0, filled))
    start += filled
    filled = 0
    // Others may still read what was appended.
    buffer = Buffer.allocUnsafeSlow(bufferBytes)
  }
  function read(at: number, length: number, into?: Buffer): Buffer {
    if (at + length > start) flush()
    const bytes = into === undefined ? Buffer.allocUnsafeSlow(length) : into.subarray(0, length)
    for (let done = 0; done < length;) {
      const count = readSync(file, bytes, done, length - done, at + done)
      if (count === 0) throw new Error('a temporary file is shorter than it was')
      done += count
    }
    return bytes
  }
  return {
    read,
    /** Memory for this number of bytes, and where it begins. */
    reserve(bytes: number) {
      if (filled + bytes > buffer.length) {
        flush()
        if (bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(bytes)
      }
      return { buffer, from: filled }
    },
    /** Appends the first bytes of that memory; returns where in the file they will be. */
    take(bytes: number): number {
      filled += bytes
      return start + filled - bytes
    },
    /**
     * What was appended, some whole parts at a time; each begins with its length, in 32 bits. Their
     * memory is used again for the next ones.
     */
    *parts(): Generator<TemporaryPart> {
      const memory = Buffer.allocUnsafeSlow(bufferBytes)
      for (let at = 0; at < start + filled;) {
        let bytes = read(at, Math.min(bufferBytes, start + filled - at), memory)
        const first = bytes.readUInt32LE(0)
        if (first > bytes.length) bytes = read(at, first)
        bytes = bytes.subarray(0, endOfParts(bytes))
        yield { at, bytes }
        at += bytes.length
      }
    },
    close: () => closeDone(file),
  }
}

/** Closes a file whose content is no longer needed. */
function closeDone(file: number): void {
  try {
    closeSync(file)
  } catch {
    // Some file systems report only here that they could not write. An import may be committed.
  }
}

/** The end of the last whole part. */
function endOfParts(bytes: Buffer): number {
  for (let end = 0; ;) {
    const next = end + 4 > bytes.length ? Infinity : end + bytes.readUInt32LE(end)
    if (next > bytes.length) return end
    end = next
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist, or was emptied meanwhile',
  ENOSPC: 'is full',
  EDQUOT: 'is full',
  EFBIG: 'is beyond a limit on the size of files (ulimit -f)',
}

/** Runs work in the folder for temporary files; an error in it becomes one with advice. */
function orTemporaryError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = systemCode(error) || String(error)
    const why = reasons[code] ?? `cannot be used (${code})`
    throw new OperatorError(temporaryFault(why))
  }
}

/** What is wrong with that folder, and what to do. */
export function temporaryFault(why: string): string {
  return `the folder for temporary files, ${tmpdir()}, ${why}; set TMPDIR to another one`
}
