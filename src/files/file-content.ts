// The content of a file as UTF-8 text, or as Parquet: its stored bytes, which are digested and
// decompressed while they are read.

import { createHash } from 'node:crypto'
import { constants, createReadStream, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { addAbortSignal, pipeline, type Readable, type Transform } from 'node:stream'
import { crc32, createGunzip, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { OperatorError } from '../config/operator-error.ts'
import { encodingOf, toUtf8 } from './encoding.ts'
import { isText, refuseOtherContent } from './recognise.ts'
import type { ImportedFile, SourceFile } from './source-file.ts'
import type { ZipEntry } from './zip-file.ts'
import { shellWord } from '../text/shell-word.ts'

/** Progress and cancellation of reading. */
export interface Reading {
  /** Called with the number of stored bytes of each chunk. */
  readonly onBytes: (bytes: number) => void
  /** Receives each file that has been read to its end. */
  readonly onFile: (file: ImportedFile) => void
  /** Aborts reading, even while it waits for bytes that may never come. */
  readonly signal: AbortSignal
}

/** What a file contains. */
export interface Content {
  /** Its first bytes. */
  readonly start: Buffer
  readonly chunks: AsyncIterable<Buffer>
  /** Whether the file is stored on its own, uncompressed. */
  readonly isStored: boolean
}

/** How many bytes show what a file is: so few that a slow pipe is not held up. */
const startBytes = 512

/**
 * Opens a file, and looks at its first bytes.
 *
 * @throws OperatorError here or from the chunks, if the file is truncated, is not compressed or
 *   encoded as its name and the options say, or is recognisable as something else.
 */
export async function openContent(file: SourceFile, reading: Reading): Promise<Content> {
  const { signal } = reading
  const hash = createHash('sha256')
  let storedBytes = 0
  const stream = addAbortSignal(signal, openStored(file))
  async function* stored(): AsyncGenerator<Buffer> {
    for await (const chunk of stream) {
      const bytes = chunk as Buffer
      hash.update(bytes)
      storedBytes += bytes.length
      reading.onBytes(bytes.length)
      yield bytes
    }
  }
  let compression = file.compression
  async function* whole(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* chunks
    } catch (error) {
      signal.throwIfAborted()
      throw explain(file, compression, error)
    } finally {
      stream.destroy()
    }
    reading.onFile({ name: file.name, bytes: storedBytes, sha256: hash.digest('hex') })
  }
  try {
    const first = await withStart(stored())
    compression = compressionOf(file, first.start)
    const unpacked = unpack(file, compression, first.chunks, () => storedBytes)
    const isPacked = compression !== 'none'
    const content = await rowsOf(file, isPacked ? await withStart(unpacked) : first)
    const { start, chunks } = content
    return { start, chunks: whole(chunks), isStored: !isPacked && file.size !== undefined }
  } catch (error) {
    stream.destroy()
    signal.throwIfAborted()
    throw explain(file, compression, error)
  }
}

const chunkBytes = 256 << 10

function openStored(file: SourceFile): Readable {
  // Read as a file, an idle terminal or pipe would block a thread, and with it the process's exit.
  if (file.name === '-') return process.stdin
  if (file.isPipe !== true) return createReadStream(file.name, { highWaterMark: chunkBytes })
  const descriptor = openSync(file.name, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd: descriptor, readable: true, writable: false })
}

/** Chunks, with the first bytes of all of them. */
type Started = Omit<Content, 'isStored'>

const byteOrderMark = Buffer.from('\uFEFF')

/** Looks at the first bytes; a text in UTF-8 loses its byte order mark. */
async function withStart(chunks: AsyncIterable<Buffer>, mayBeMarked = false): Promise<Started> {
  const rest = chunks[Symbol.asyncIterator]()
  const first: Buffer[] = []
  for (let length = 0; length < startBytes;) {
    const step = await rest.next()
    if (step.done === true) break
    first.push(step.value)
    length += step.value.length
  }
  let start = first.length === 1 && first[0] ? first[0] : Buffer.concat(first)
  const isMarked = start.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  if (mayBeMarked && isMarked) start = start.subarray(byteOrderMark.length)
  return { start, chunks: startingWith(start, { [Symbol.asyncIterator]: () => rest }) }
}

/** What is left of a sequence, with what has been taken from its start. */
export async function* startingWith<T>(start: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield start
  yield* rest
}

/** Looks at the first bytes of a text in UTF-8, without a byte order mark. */
export const openText = (chunks: AsyncIterable<Buffer>) => withStart(chunks, true)

type Compression = SourceFile['compression']

const magicNumbers: readonly (readonly [Compression, number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
]

/** The compression of a file by its first bytes; a text may have any name. */
function compressionOf({ compression }: SourceFile, start: Buffer): Compression {
  if (compression === 'zip') return 'zip'
  const found = magicNumbers.find(([, bytes]) => bytes.every((byte, at) => start[at] === byte))
  if (found !== undefined) return found[0]
  return compression !== 'none' && isText(start) ? 'none' : compression
}

/** Decompresses chunks. @throws OperatorError during reading, if content is wrong or missing. */
async function* unpack(
  file: SourceFile,
  compression: Compression,
  chunks: AsyncIterable<Buffer>,
  storedBytes: () => number,
): AsyncGenerator<Buffer> {
  if (compression === 'zip') {
    if (file.entry !== undefined) yield* unzip(file.name, file.entry, chunks)
    return
  }
  const create = compression === 'gzip' ? createGunzip : createZstdDecompress
  const unpacker = create({ chunkSize: chunkBytes })
  yield* through(chunks, unpacker)
  // The zstd decompressor stops silently at bytes that do not begin a frame.
  if (unpacker.bytesWritten >= storedBytes()) return
  const advice =
    compression === 'gzip'
      ? `; if that is only padding, decompress it first: gunzip -c ${shellWord(file.name)}`
      : '; download it again'
  throw new OperatorError(
    `${file.name} is not a valid ${compression} file: it has content after its last frame${advice}`,
  )
}

/** The bytes that a transformation makes from chunks. */
async function* through(
  chunks: AsyncIterable<Buffer>,
  transform: Transform,
): AsyncGenerator<Buffer> {
  // An error of either ends the transformation, whose reader gets it.
  pipeline(chunks, transform, () => undefined)
  for await (const chunk of transform) yield chunk as Buffer
}

async function* unzip(
  name: string,
  entry: ZipEntry,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const range = rangeOf(chunks, entry.start, entry.end)
  const content = entry.isDeflated
    ? through(range, createInflateRaw({ chunkSize: chunkBytes }))
    : range
  let bytes = 0
  let checksum = 0
  for await (const chunk of content) {
    bytes += chunk.length
    checksum = crc32(chunk, checksum)
    if (bytes > entry.bytes) break
    yield chunk
  }
  if (bytes === entry.bytes && checksum === entry.crc32) return
  throw new OperatorError(
    `${name}: ${entry.path} is damaged: its size or checksum differs from the archive's entry; ` +
      'download it again',
  )
}

async function* rangeOf(
  chunks: AsyncIterable<Buffer>,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  let offset = 0
  for await (const chunk of chunks) {
    const part = chunk.subarray(Math.max(start - offset, 0), Math.max(end - offset, 0))
    if (part.length > 0) yield part
    offset += chunk.length
  }
}

/** The rows of a file: Parquet as it is, else UTF-8. */
async function rowsOf(file: SourceFile, stored: Started): Promise<Started> {
  if (file.format === 'parquet') {
    refuseOtherContent(file, stored.start)
    return stored
  }
  const encoding = encodingOf(file.name, stored.start, file.options.encoding)
  const { chunks } = stored
  const text = await openText(encoding === 'utf-8' ? chunks : toUtf8(file.name, encoding, chunks))
  refuseOtherContent(file, text.start)
  return text
}

function explain(file: SourceFile, compression: Compression, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  if (code === 'Z_BUF_ERROR' || /unexpected end|truncated|incomplete/i.test(error.message)) {
    return new OperatorError(
      `${file.name} ends too early: the ${compression} file is truncated; download it again`,
    )
  }
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    return new OperatorError(
      `${file.name} takes more memory to decompress than an import has; decompress it first: ` +
        `zstd -d --long=31 ${shellWord(file.name)}`,
    )
  }
  if (code.startsWith('Z_') || code.startsWith('ZSTD_')) {
    return new OperatorError(
      `${file.name} is not a valid ${compression} file: ${error.message}; download it again`,
    )
  }
  return new OperatorError(`${file.name} cannot be read: ${error.message}`)
}
