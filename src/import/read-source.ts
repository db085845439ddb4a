// A source as batches of rows, whatever its format: NDJSON and JSON read by us, line by line, the
// rest, and all that a mapping reshapes, by DuckDB.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nearest } from '../nearest.ts'
import { OperatorError } from '../operator-error.ts'
import { placeColumns } from '../resources/resource.ts'
import { openColumnarSource } from '../store/duckdb/columns.ts'
import type { ImportedFile } from '../store/importing.ts'
import type { SourceRow } from './check-record.ts'
import { type ReadRow, readJson, readNdjson } from './read-json.ts'
import type { Refusal } from './refusal.ts'
import { type FileDigest, readBytes, type SourceFile } from './source-file.ts'
import { prepareColumnarFile } from './unpack.ts'

/** A row with the index of its file among the source's. */
export interface PlacedRow {
  readonly file: number
  readonly number: number
  readonly row: SourceRow | Refusal
}

/** An opened source. `files` is filled in as each file ends. */
export interface Source {
  readonly unit: 'line' | 'row'
  readonly files: ImportedFile[]
  readonly batches: AsyncIterable<PlacedRow[]>
}

/** What a source is opened with. */
interface SourceOptions {
  readonly files: readonly SourceFile[]
  /** The text of a mapping; undefined where the columns already bear the specification's names. */
  readonly mapping: string | undefined
  /** The columns that a row may have; undefined where every other one is an attribute. */
  readonly columns: readonly string[] | undefined
  /** The columns that a source must have, told before the first row. */
  readonly requiredColumns: readonly string[]
  readonly onBytes: (bytes: number) => void
  /** Ends the reading. */
  readonly signal: AbortSignal
}

/** Opens a source; its faults come while its batches are read, as OperatorError. */
export function openSource(options: SourceOptions): Source {
  const { files, mapping } = options
  const isColumnar = (file: SourceFile) => file.format !== 'ndjson' && file.format !== 'json'
  if (mapping !== undefined || files.some(isColumnar)) return openWithDuckDb(options)
  const digests: ImportedFile[] = []
  return {
    unit: files.some((file) => file.format === 'json') ? 'row' : 'line',
    files: digests,
    batches: readJsonFiles(options, digests),
  }
}

async function* readJsonFiles(
  { files, onBytes, signal }: SourceOptions,
  digests: ImportedFile[],
): AsyncGenerator<PlacedRow[]> {
  for (const [file, sourceFile] of files.entries()) {
    const digest: FileDigest = { bytes: 0, sha256: '' }
    const bytes = readBytes(sourceFile, digest, onBytes, signal)
    const batches =
      sourceFile.format === 'ndjson' ? readNdjson(bytes) : readJson(sourceFile.name, bytes)
    for await (const rows of batches) yield rows.map((row) => withFile(file, row))
    digests.push({ name: sourceFile.name, ...digest })
  }
}

function withFile(file: number, { number, row }: ReadRow): PlacedRow {
  return { file, number, row }
}

function openWithDuckDb(options: SourceOptions): Source {
  const digests: ImportedFile[] = []
  return { unit: 'row', files: digests, batches: readColumnarFiles(options, digests) }
}

async function* readColumnarFiles(
  options: SourceOptions,
  digests: ImportedFile[],
): AsyncGenerator<PlacedRow[]> {
  const { files, mapping } = options
  const folder = mkdtempSync(join(tmpdir(), 'dossier-import-'))
  try {
    const prepared = []
    for (const file of files) {
      const digest: FileDigest = { bytes: 0, sha256: '' }
      prepared.push(await prepareColumnarFile(file, folder, digest, options))
      digests.push({ name: file.name, ...digest })
    }
    const source = await openColumnarSource(prepared, mapping)
    try {
      checkColumns(source.columns, options)
      yield* readColumnarRows(
        source.rows,
        files.map((file) => file.name),
      )
    } finally {
      source.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* readColumnarRows(
  rows: AsyncIterable<string[]>,
  names: readonly string[],
): AsyncGenerator<PlacedRow[]> {
  const [fileColumn, rowColumn] = placeColumns
  const indexOfName = new Map(names.map((name, index) => [name, index]))
  let number = 0
  for await (const texts of rows) {
    yield texts.map((text) => {
      number += 1
      const { [fileColumn]: file, [rowColumn]: place, ...row } = parseRow(text)
      return {
        file: indexOfName.get(String(file)) ?? 0,
        number: Number(place ?? number),
        row,
      }
    })
  }
}

// A string of JSON, or a number that JSON does not have but DuckDB's doubles do. A string that does
// not end goes to the end of the text, so that it is not looked for again from each quote in it.
const stringOrNoNumber = /"(?:[^"\\]|\\.)*(?:"|\\?$)|-?(?:NaN|Infinity)/gs

function parseRow(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    const quoted = text.replace(stringOrNoNumber, (part) => (part[0] === '"' ? part : `"${part}"`))
    return JSON.parse(quoted) as Record<string, unknown>
  }
}

/** What is wrong with a source's columns is one error, not one for each of its rows. */
function checkColumns(columns: readonly string[], options: SourceOptions): void {
  const known = options.columns
  const places: readonly string[] = placeColumns
  const unknown = columns.filter((column) => known && ![...known, ...places].includes(column))
  if (known && unknown.length > 0) {
    const told = unknown.slice(0, 5).map((column) => {
      const near = nearest(column, known)
      return near ? `${column} (did you mean ${near}?)` : column
    })
    const verb = unknown.length === 1 ? 'is no known column' : 'are no known columns'
    const advice = options.mapping === undefined ? '; a mapping (--map) can rename them' : ''
    throw new OperatorError(`${told.join(', ')} ${verb}. Known: ${known.join(', ')}${advice}`)
  }
  const missing = options.requiredColumns.filter((column) => !columns.includes(column))
  if (missing.length > 0) {
    throw new OperatorError(`the column ${missing.join(', ')} is missing; a mapping can give it`)
  }
}
