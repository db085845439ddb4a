// Rewrites a CSV file whose records do not all fit its header or end alike, so that DuckDB can read
// it: each record gets one more cell, which is empty, or has a record that is refused.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { freeNames, type CsvHeader } from './duckdb/tables.ts'
import { findRecords, RecordWalk, refuseOpenQuote } from './csv-records.ts'
import { Refusal } from './refusal.ts'
import type { RowExtents } from './row-extents.ts'

/** A rewritten file. */
interface RewrittenCsv {
  readonly header: CsvHeader
  /** The name of its last column. */
  readonly refusedColumn: string
  readonly rows: RowExtents
}

const bufferBytes = 1 << 20

/** The file to rewrite. */
interface CsvFile {
  readonly name: string
  readonly path: string
  readonly header: CsvHeader
  /** Lines of the file before the text at `path`. */
  readonly linesBefore: number
}

/**
 * Writes a rewritten file to `to`.
 *
 * @throws OperatorError for a quote that is never closed.
 */
export async function rewriteCsv(
  file: CsvFile,
  to: string,
  signal: AbortSignal,
): Promise<RewrittenCsv> {
  const { name, header } = file
  const { delimiter } = header
  const columns = freeNames([...header.columns, 'refused'])
  const finder = findRecords(name, delimiter, columns.length)
  const output = await open(to, 'wx')
  let pieces: Buffer[] = []
  let length = 0
  async function flush(): Promise<void> {
    const bytes = Buffer.concat(pieces)
    ;[pieces, length] = [[], 0]
    finder.add(bytes)
    await output.writeFile(bytes)
  }
  try {
    for await (const records of recordsOf(file, signal)) {
      for (const [index, record] of records.entries()) {
        const written = rewriteRecord(record, header, record.line === file.linesBefore + 1)
        if (written !== undefined) pieces.push(written)
        length += written?.length ?? 0
        if (length > bufferBytes || index === records.length - 1) await flush()
      }
    }
  } finally {
    await output.close()
  }
  const refusedColumn = columns.at(-1) ?? ''
  return { header: { columns, delimiter }, refusedColumn, rows: finder.end() }
}

/** The line in which a row of a CSV file begins; undefined if there are not so many. */
export async function lineOfRow(
  file: CsvFile,
  row: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  let count = -1
  for await (const records of recordsOf(file, signal)) {
    for (const record of records) {
      if (!isBlankLine(record, file.header)) count += 1
      if (count === row) return record.line
    }
  }
  return undefined
}

/** A record as it is in a file. */
interface CsvRecord {
  /** Without its line end. */
  readonly bytes: Buffer
  readonly cells: number
  readonly isSound: boolean
  /** The line that it begins in. */
  readonly line: number
}

/** The records of a file, in batches. */
async function* recordsOf(
  { name, path, header, linesBefore }: CsvFile,
  signal: AbortSignal,
): AsyncGenerator<CsvRecord[]> {
  let records: CsvRecord[] = []
  let line = linesBefore + 1
  let held: Buffer = Buffer.alloc(0)
  let offset = 0
  const walk = new RecordWalk(header.delimiter, (end, lineEnd, cells, isSound) => {
    const bytes = held.subarray(0, end - lineEnd - offset)
    records.push({ bytes, cells, isSound, line })
    line += lineEndsIn(held.subarray(0, end - offset))
    held = held.subarray(end - offset)
    offset = end
  })
  for await (const chunk of createReadStream(path, { highWaterMark: bufferBytes, signal })) {
    held = Buffer.concat([held, chunk as Buffer])
    walk.add(chunk as Buffer)
    yield records
    records = []
  }
  if (walk.end().isOpen) refuseOpenQuote(name, records.at(-1)?.line ?? line)
  yield records
}

const [newline, carriageReturn, blank] = [0x0a, 0x0d, 0x20]

function lineEndsIn(bytes: Buffer): number {
  let lines = 0
  for (const [at, byte] of bytes.entries()) {
    if (byte === newline || (byte === carriageReturn && bytes[at + 1] !== newline)) lines += 1
  }
  return lines
}

const isBlankLine = ({ bytes, cells }: CsvRecord, { columns }: CsvHeader) =>
  cells === 1 && columns.length > 1 && bytes.every((byte) => byte === blank)

/** The record as DuckDB shall read it; undefined for a blank line. */
function rewriteRecord(
  record: CsvRecord,
  header: CsvHeader,
  isHeader: boolean,
): Buffer | undefined {
  const { bytes, cells, isSound, line } = record
  const { columns, delimiter } = header
  if (isBlankLine(record, header) && !isHeader) return undefined
  const isFitting = isSound && cells === columns.length
  if (isFitting || isHeader) return Buffer.concat([bytes, Buffer.from(`${delimiter}\n`)])
  // An empty cell too many, as of a delimiter at the end of each line, is the added one.
  const isLastEmpty = bytes.at(-1) === delimiter.charCodeAt(0)
  if (isSound && cells === columns.length + 1 && isLastEmpty) {
    return Buffer.concat([bytes, Buffer.from('\n')])
  }
  const text = `${line} ${isSound ? cells : 0} ${bytes.toString()}`
  const quoted = `"${text.replaceAll('"', '""')}"\n`
  return Buffer.from(delimiter.repeat(columns.length) + quoted)
}

/** The refusal that a cell of the added column stands for. */
export function refusedRecord(cell: string, columns: number): Refusal {
  const [, line = '', cells = '', text = ''] = /^(\d+) (\d+) ([^]*)$/.exec(cell) ?? []
  const reason =
    cells === '0'
      ? 'has text after a closing quote'
      : `has ${cells} ${cells === '1' ? 'cell' : 'cells'}, but the header has ${columns}`
  return new Refusal(reason, undefined, text, { line: Number(line) })
}
