// The files of an import: their formats, and their bytes, which are checked while they are read.

import { createHash } from 'node:crypto'
import { accessSync, constants, createReadStream, globSync, openSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { nearest } from '../nearest.ts'
import { OperatorError } from '../operator-error.ts'

export const formats = ['ndjson', 'json', 'csv', 'tsv', 'parquet'] as const
export type Format = (typeof formats)[number]

/** A file to read, or standard input. */
export interface SourceFile {
  /** The path as the operator gave it; `-` for standard input. */
  readonly name: string
  readonly format: Format
  readonly compression: 'none' | 'gzip' | 'zstd'
  /** Bytes as stored; undefined for standard input. */
  readonly size: number | undefined
  /** Whether it is a named pipe, whose other end may never be opened. */
  readonly isPipe?: boolean
}

/** Size and digest of a file, complete once it has been read. */
export interface FileDigest {
  bytes: number
  sha256: string
}

const formatOfEnding: Readonly<Record<string, Format>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  parquet: 'parquet',
}

/** Commands that decompress unsupported compressions, by file name extension. */
const unpackedBy: Readonly<Record<string, string>> = {
  zip: 'unzip -p',
  bz2: 'bzip2 -dc',
  xz: 'xz -dc',
}

/**
 * The files that the arguments name, each once, in their order; the matches of a glob are sorted by
 * name.
 *
 * @throws OperatorError if an argument names nothing that can be read.
 */
export function findSourceFiles(words: readonly string[], format?: Format): SourceFile[] {
  const names = new Set(words.flatMap((word) => expand(word)))
  return [...names].map((name) => describe(name, format))
}

function expand(word: string): string[] {
  if (word === '-' || !/[*?[{]/.test(word) || exists(word)) return [word]
  const found = globSync(word).sort()
  if (found.length === 0) throw new OperatorError(`no file matches ${word}`)
  return found
}

function exists(path: string): boolean {
  return statOf(path) !== undefined
}

/** Undefined if nothing exists there. @throws OperatorError if the path cannot be looked up. */
function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`${path} cannot be read: ${reason}`)
  }
}

function describe(name: string, format: Format | undefined): SourceFile {
  if (name === '-')
    return { name, format: format ?? 'ndjson', compression: 'none', size: undefined }
  const stat = statOf(name)
  if (stat === undefined) throw new OperatorError(`${name} does not exist`)
  if (stat.isDirectory()) throw new OperatorError(`${name} is a folder; name its files: ${name}/*`)
  try {
    accessSync(name, constants.R_OK)
  } catch {
    throw new OperatorError(`${name}: permission denied`)
  }
  const { compression, ending } = endingOf(name)
  const known = format ?? formatOfEnding[ending]
  const unpacker = format === undefined ? unpackedBy[ending] : undefined
  if (unpacker !== undefined) {
    throw new OperatorError(
      `${name} has a compression that is not supported; ` +
        `decompress it first, or: ${unpacker} ${name} | dossier import … - --format FORMAT`,
    )
  }
  if (known === undefined) {
    const near = nearest(ending, Object.keys(formatOfEnding))
    throw new OperatorError(
      `${name}: unknown format${near ? ` (did you mean .${near}?)` : ''}; ` +
        `say which with --format ${formats.join('|')}`,
    )
  }
  // A pipe (`<(…)`, /dev/stdin) has no size.
  const size = stat.isFile() ? stat.size : undefined
  return { name, format: known, compression, size, isPipe: stat.isFIFO() }
}

function endingOf(name: string): { compression: SourceFile['compression']; ending: string } {
  const parts = name.toLowerCase().split('.')
  const last = parts.pop() ?? ''
  if (last === 'gz') return { compression: 'gzip', ending: parts.pop() ?? '' }
  if (last === 'zst') return { compression: 'zstd', ending: parts.pop() ?? '' }
  return { compression: 'none', ending: last }
}

/**
 * The decompressed bytes of a file, chunk by chunk.
 *
 * @param digest receives the size and SHA-256 of the file as stored; complete at the end.
 * @param onBytes is called with the number of stored bytes of each chunk.
 * @param signal aborts reading, even while it waits for bytes that may never come.
 * @throws OperatorError if the file is truncated or not compressed as its name says.
 */
export async function* readBytes(
  file: SourceFile,
  digest: FileDigest,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const stored = addAbortSignal(signal, openStored(file))
  stored.on('data', (chunk: Buffer) => {
    hash.update(chunk)
    digest.bytes += chunk.length
    onBytes(chunk.length)
  })
  const unpacked = unpack(file, stored)
  try {
    for await (const chunk of unpacked) yield chunk as Buffer
    // The zstd decompressor stops silently at bytes that do not begin a frame.
    const isPacked = file.compression !== 'none' && 'bytesWritten' in unpacked
    if (isPacked && Number(unpacked.bytesWritten) < digest.bytes) {
      throw new OperatorError(
        `${file.name} is not a valid ${file.compression} file: it has content after its last frame`,
      )
    }
  } catch (error) {
    signal.throwIfAborted()
    throw explain(file, error)
  } finally {
    stored.destroy()
    unpacked.destroy()
  }
  digest.sha256 = hash.digest('hex')
}

const chunkBytes = 256 << 10

function openStored(file: SourceFile): Readable {
  // Read as a file, an idle terminal or pipe would block a thread, and with it the process's exit.
  if (file.name === '-') return process.stdin
  if (!file.isPipe) return createReadStream(file.name, { highWaterMark: chunkBytes })
  const descriptor = openSync(file.name, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd: descriptor, readable: true, writable: false })
}

function unpack(file: SourceFile, stored: Readable): Readable {
  if (file.compression === 'none') return stored
  const unpacked =
    file.compression === 'gzip'
      ? createGunzip({ chunkSize: chunkBytes })
      : createZstdDecompress({ chunkSize: chunkBytes })
  stored.on('error', (error) => unpacked.destroy(error))
  return stored.pipe(unpacked)
}

function explain(file: SourceFile, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  if (code === 'Z_BUF_ERROR' || /unexpected end|truncated|incomplete/i.test(error.message)) {
    return new OperatorError(
      `${file.name} ends too early: the ${file.compression} file is truncated; download it again`,
    )
  }
  if (code.startsWith('Z_') || code.startsWith('ZSTD_')) {
    return new OperatorError(
      `${file.name} is not a valid ${file.compression} file: ${error.message}`,
    )
  }
  return new OperatorError(`${file.name} cannot be read: ${error.message}`)
}
