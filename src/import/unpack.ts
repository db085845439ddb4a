// Files for DuckDB: checked to be whole and valid UTF-8, and unpacked where they are compressed.

import { isUtf8 } from 'node:buffer'
import { symlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ColumnarFile, CsvHeader } from '../store/duckdb/columns.ts'
import { OperatorError } from '../operator-error.ts'
import { type FileDigest, readBytes, type SourceFile } from './source-file.ts'

const headerBytesMax = 1 << 20
const lineBytesMax = 16 << 20

/** Characters by which DuckDB would take a path for a pattern, a home or an address. */
const isPattern = /[*?[\]{}]|^~|:\/\//

/** What a reading tells, and what ends it. */
interface Reading {
  readonly onBytes: (bytes: number) => void
  readonly signal: AbortSignal
}

/**
 * Reads a file through once, so that DuckDB meets nothing that it would pass over in silence.
 *
 * @param folder takes the unpacked copy of a compressed file.
 * @throws OperatorError for a truncated file, broken UTF-8 (with its line) or a header that cannot
 *   be told.
 */
export async function prepareColumnarFile(
  file: SourceFile,
  folder: string,
  digest: FileDigest,
  { onBytes, signal }: Reading,
): Promise<ColumnarFile> {
  const isStored = file.compression === 'none' && file.size !== undefined
  const isPlain = isStored && !isPattern.test(file.name)
  const path = isPlain ? file.name : join(folder, `${crypto.randomUUID()}.${file.format}`)
  if (isStored && !isPlain) symlinkSync(resolve(file.name), path)
  const copy = isStored ? undefined : await orExplain(folder, () => open(path, 'wx'))
  const isText = file.format !== 'parquet'
  // An array in JSON may be one line; DuckDB itself bounds its elements.
  const utf8 = createUtf8Check(file.name, file.format === 'json' ? Infinity : lineBytesMax)
  let start = Buffer.alloc(0)
  try {
    for await (const chunk of readBytes(file, digest, onBytes, signal)) {
      if (isText) utf8.check(chunk)
      if (start.length < headerBytesMax) start = Buffer.concat([start, chunk])
      await orExplain(folder, () => copy?.writeFile(chunk))
    }
  } finally {
    await copy?.close()
  }
  if (isText) utf8.end()
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  const header = isCsv ? parseHeader(file, start.toString('utf8')) : undefined
  return { name: file.name, path, format: file.format, header }
}

/** What a full disk or a limit makes of unpacking, as an error that says what to do about it. */
async function orExplain<T>(folder: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `${folder} cannot take the unpacked file: ${reason}; make room, or set TMPDIR to another one`,
    )
  }
}

/** Checks chunks that may end within a character; a fault is told with its line. */
function createUtf8Check(name: string, bytesMax: number) {
  let line = 1
  let lineBytes = 0
  let rest: Buffer = Buffer.alloc(0)
  function fail(bytes: Buffer): never {
    let start = 0
    for (let end; (end = bytes.indexOf(10, start)) >= 0; start = end + 1) {
      if (!isUtf8(bytes.subarray(start, end))) break
      line += 1
    }
    throw new OperatorError(`${name}: line ${line} is not valid UTF-8; convert the file first`)
  }
  return {
    check(chunk: Buffer): void {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = wholeCharacters(bytes)
      const whole = bytes.subarray(0, end)
      if (!isUtf8(whole)) fail(whole)
      for (let at = whole.indexOf(10); at >= 0; at = whole.indexOf(10, at + 1)) line += 1
      lineBytes = whole.includes(10) ? end - whole.lastIndexOf(10) - 1 : lineBytes + end
      rest = bytes.subarray(end)
      if (lineBytes > bytesMax) {
        throw new OperatorError(`${name}: line ${line} is longer than ${bytesMax >> 20} MiB`)
      }
    },
    end(): void {
      if (!isUtf8(rest)) fail(rest)
    },
  }
}

/** The length without the bytes of a last character that may go on in the next chunk. */
function wholeCharacters(bytes: Buffer): number {
  const lead = bytes.subarray(-4).findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  const at = Math.max(bytes.length - 4, 0) + lead
  return lead >= 0 && (bytes[at] ?? 0) >= 0xc0 ? at : bytes.length
}

/** The delimiter is the one that the first record has most of, outside quotes. */
function parseHeader(file: SourceFile, text: string): CsvHeader {
  const record = firstRecord(text.replace(/^\uFEFF/, ''))
  if (record.trim() === '') throw new OperatorError(`${file.name} is empty; it needs a header line`)
  const candidates = file.format === 'tsv' ? ['\t'] : [',', ';', '\t', '|']
  const split = candidates.map((delimiter) => ({
    delimiter,
    columns: splitRecord(record, delimiter),
  }))
  const header = split.reduce((a, b) => (b.columns.length > a.columns.length ? b : a))
  const columns = header.columns.map((name, index) => name || `column_${index + 1}`)
  const twice = columns.find((name, index) => {
    return columns.slice(0, index).some((other) => other.toLowerCase() === name.toLowerCase())
  })
  if (twice !== undefined) {
    throw new OperatorError(`${file.name}: the column ${twice} stands twice in the header`)
  }
  return { ...header, columns }
}

function firstRecord(text: string): string {
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && (text[at] === '\n' || text[at] === '\r')) return text.slice(0, at)
  }
  return text
}

function splitRecord(record: string, delimiter: string): string[] {
  const fields: string[] = []
  let isQuoted = false
  let start = 0
  for (let at = 0; at <= record.length; at++) {
    if (record[at] === '"') isQuoted = !isQuoted
    else if (at === record.length || (!isQuoted && record[at] === delimiter)) {
      fields.push(unquote(record.slice(start, at).trim()))
      start = at + 1
    }
  }
  return fields
}

function unquote(field: string): string {
  return /^".*"$/s.test(field) ? field.slice(1, -1).replaceAll('""', '"').trim() : field
}
