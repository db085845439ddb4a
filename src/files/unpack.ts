// Prepares files for DuckDB: checks that they are complete and valid UTF-8, decompresses them, and
// cuts those with wide rows into pieces.

import { isUtf8 } from 'node:buffer'
import { rmSync, symlinkSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { OperatorError } from '../config/operator-error.ts'
import type { ColumnarFile, CsvHeader, Piece } from './duckdb/tables.ts'
import { headerBytesMax, parseHeader } from './csv-header.ts'
import { inEncodings, lineAround } from './encoding-guess.ts'
import { openContent, type Reading } from './file-content.ts'
import { findRecords, type RecordFinder } from './csv-records.ts'
import { createMemberScan, type DoubledMember } from '../text/member-scan.ts'
import { rewriteCsv } from './rewrite-csv.ts'
import { findElements, findLines, type RowExtents, type RowFinder } from './row-extents.ts'
import type { FileDigest, SourceFile } from './source-file.ts'

/**
 * Reads a file through once, to refuse faults that DuckDB would silently skip.
 *
 * DuckDB always gets a path of our own: it may read a file's name as a pattern, a URL or columns.
 *
 * @param folder receives a link to the file, the decompressed copy of a compressed one, or pieces.
 * @throws OperatorError for a truncated file, invalid UTF-8 (with its line), a row that is too
 *   long, or an invalid header.
 */
export async function prepareColumnarFile(
  file: SourceFile,
  folder: string,
  digest: FileDigest,
  reading: Reading,
): Promise<ColumnarFile> {
  const { chunks, isStored } = await openContent(file, digest, reading)
  const path = join(folder, `${crypto.randomUUID()}.${file.format}`)
  if (isStored) symlinkSync(resolve(file.name), path)
  const copy = isStored ? undefined : await orExplain(folder, () => open(path, 'wx'))
  const text = file.format === 'parquet' ? undefined : createTextCheck(file)
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length
      text?.add(chunk)
      await orExplain(folder, () => copy?.writeFile(chunk))
    }
  } finally {
    await copy?.close()
  }
  const whole: TextFile = { path, ...(text?.end() ?? noText) }
  const { header, rows, refusedColumn, ...found } = await rewrite(file, whole, folder, reading)
  const { isWide, longestRow, count } = rows ?? noRows
  const pieces = rows?.isWide
    ? await cutIntoPieces(
        file,
        found.path,
        folder,
        { ...rows, isArray: found.isArray },
        reading.signal,
      )
    : [{ path: found.path, recordsBefore: 0 }]
  const { name, format } = file
  return { name, format, pieces, isWide, longestRow, rows: count, bytes, header, refusedColumn }
}

/** Rewrites a CSV file that DuckDB cannot read to its end. */
async function rewrite(
  { name, options }: SourceFile,
  file: TextFile,
  folder: string,
  { signal }: Reading,
): Promise<TextFile & { readonly refusedColumn?: string }> {
  const { path, header } = file
  if (file.isRegular || header === undefined) return file
  const to = `${path}-rewritten.csv`
  const linesBefore = options.skippedLines ?? 0
  const csv = { name, path, header, linesBefore }
  const rewritten = await orExplain(folder, () => rewriteCsv(csv, to, signal))
  rmSync(path)
  return { ...file, ...rewritten, path: to }
}

/** Copies the ranges of a file into files of their own, and removes the copy or link at `path`. */
async function cutIntoPieces(
  file: SourceFile,
  path: string,
  folder: string,
  { extents, isArray }: RowExtents & { readonly isArray: boolean },
  signal: AbortSignal,
): Promise<Piece[]> {
  const pieces: Piece[] = []
  const buffer = Buffer.alloc(Math.max(...extents.map(({ start, end }) => end - start)) + 2)
  const whole = await open(path, 'r')
  try {
    const before = isArray ? buffer.write('[') : 0
    for (const [index, { start, end, rowsBefore }] of extents.entries()) {
      signal.throwIfAborted()
      const piece = `${path}-${index}.${file.format}`
      const { bytesRead } = await whole.read(buffer, before, end - start, start)
      const length = before + bytesRead
      const after = isArray ? buffer.write(']', length) : 0
      await orExplain(folder, () => writeFile(piece, buffer.subarray(0, length + after)))
      pieces.push({ path: piece, recordsBefore: rowsBefore })
    }
  } finally {
    await whole.close()
  }
  rmSync(path)
  return pieces
}

/** Turns a full disk or a quota into an error that says what to do. */
async function orExplain<T>(folder: string, work: () => T): Promise<Awaited<T>> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `cannot decompress into ${folder}: ${reason}; free space, or set TMPDIR to another folder`,
    )
  }
}

/** The result of checking a text file. */
interface CheckedText {
  readonly header: CsvHeader | undefined
  readonly rows: RowExtents | undefined
  /** Whether the rows are the elements of one JSON array. */
  readonly isArray: boolean
  /** Whether DuckDB can read all rows. */
  readonly isRegular: boolean
}

const noRows = { isWide: false, longestRow: 0, count: undefined }

const noText: CheckedText = {
  header: undefined,
  rows: undefined,
  isArray: false,
  isRegular: true,
}

/** A text file at a path of ours. */
interface TextFile extends CheckedText {
  readonly path: string
}

/** Checks the bytes of a text file, and finds its header and its rows. */
function createTextCheck(file: SourceFile) {
  const utf8 = createUtf8Check(file.name, file.options.skippedLines ?? 0)
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  const scanMembers = isCsv ? undefined : createMemberScan()
  let header: CsvHeader | undefined
  let finder: RowFinder | undefined
  let records: RecordFinder | undefined
  let isArray = false
  let start: Buffer = Buffer.alloc(0)
  /** Starts to look for rows once the file's start shows what they are. */
  function begin(): void {
    const text = start.toString('utf8')
    if (isCsv) {
      header = headerOf(file, text)
      finder = records = findRecords(file.name, header.delimiter, header.columns.length)
      finder.add(start)
      return
    }
    const at = /^(?:\uFEFF)?\s*/.exec(text)?.[0] ?? ''
    const before = Buffer.byteLength(at)
    isArray = file.format === 'json' && text[at.length] === '['
    finder = isArray ? findElements(file.name, before) : findLines(file.name)
    finder.add(isArray ? start.subarray(before) : start)
  }
  return {
    add(chunk: Buffer): void {
      utf8.check(chunk)
      const doubled = scanMembers?.(chunk)
      if (doubled !== undefined) throw memberTwice(file.name, doubled)
      if (finder !== undefined) return finder.add(chunk)
      start = start.length === 0 ? chunk : Buffer.concat([start, chunk])
      if (start.length >= headerBytesMax) begin()
    },
    end(): CheckedText {
      utf8.end()
      if (finder === undefined) begin()
      const rows = finder?.end()
      return { header, rows, isArray, isRegular: records?.isRegular() ?? true }
    },
  }
}

function memberTwice(file: string, { row, name }: DoubledMember): OperatorError {
  return new OperatorError(
    `${file}: row ${row}: ${name} is in the JSON object twice; correct the file`,
  )
}

function headerOf({ name, format, options }: SourceFile, text: string): CsvHeader {
  const known = format === 'tsv' ? ['\t'] : [',', ';', '\t', '|']
  const candidates = options.delimiter === undefined ? known : [options.delimiter]
  return parseHeader(name, candidates, text, options.skippedLines)
}

/** Checks chunks that may end within a character; reports the line of an error. */
function createUtf8Check(name: string, linesBefore: number) {
  let line = linesBefore + 1
  let rest: Buffer = Buffer.alloc(0)
  function fail(bytes: Buffer): never {
    let start = 0
    for (let end; (end = bytes.indexOf(10, start)) >= 0; start = end + 1) {
      if (!isUtf8(bytes.subarray(start, end))) break
      line += 1
    }
    const at = start + bytes.subarray(start).findIndex((byte) => byte > 0x7f)
    throw new OperatorError(
      `${name}: line ${line} is not valid UTF-8; say which encoding the file has: ` +
        `--encoding NAME, where the line reads right (${inEncodings(lineAround(bytes, at))})`,
    )
  }
  return {
    check(chunk: Buffer): void {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = wholeCharacters(bytes)
      const whole = bytes.subarray(0, end)
      if (!isUtf8(whole)) fail(whole)
      for (let at = whole.indexOf(10); at >= 0; at = whole.indexOf(10, at + 1)) line += 1
      rest = bytes.subarray(end)
    },
    end(): void {
      if (!isUtf8(rest)) fail(rest)
    },
  }
}

/** The length without an incomplete character at the end, which the next chunk may complete. */
function wholeCharacters(bytes: Buffer): number {
  const lead = bytes.subarray(-4).findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  const at = Math.max(bytes.length - 4, 0) + lead
  return lead >= 0 && (bytes[at] ?? 0) >= 0xc0 ? at : bytes.length
}
