// The files of an import: their paths, and their formats by name and options.

import { accessSync, constants, globSync, type Stats, statSync } from 'node:fs'
import { nearest } from '../text/nearest.ts'
import { OperatorError, orExplain } from '../config/operator-error.ts'
import type { Encoding } from './encoding.ts'
import { readStart } from './file-start.ts'
import { refuseOtherEnding } from './recognise.ts'
import { findZipEntry, type ZipEntry } from './zip-file.ts'
import { shellWord } from '../text/shell-word.ts'

export const formats = ['ndjson', 'json', 'csv', 'tsv', 'parquet'] as const
export type Format = (typeof formats)[number]

/** Options for all files of an import. */
export interface FileOptions {
  /** Undefined if the names of the files show it. */
  readonly format?: Format | undefined
  /** Undefined for UTF-8, or the encoding of a byte order mark. */
  readonly encoding?: Encoding | undefined
  /** The character between the cells of CSV; undefined to take it from the first line. */
  readonly delimiter?: string | undefined
  /** Whether a quote opens a cell of CSV, as it does by default. */
  readonly hasQuotes?: boolean
  /** Lines before the header of CSV; 0 by default. */
  readonly skippedLines?: number | undefined
  /** The names of the columns of CSV without a header; undefined if its first line has them. */
  readonly columns?: readonly string[] | undefined
  /** The path of the array of rows in a JSON object, such as `data.items`. */
  readonly records?: string | undefined
}

/** A file to read, or standard input. */
export interface SourceFile {
  /** The path as the operator gave it; `-` for standard input. */
  readonly name: string
  readonly format: Format
  /** As its name says; its first bytes may show another one. */
  readonly compression: 'none' | 'gzip' | 'zstd' | 'zip'
  /** The file in a zip archive; undefined for other files. */
  readonly entry?: ZipEntry | undefined
  readonly options: FileOptions
  /** Bytes as stored; undefined for standard input. */
  readonly size: number | undefined
  /** What shows whether it has changed since the command began; undefined for a pipe. */
  readonly stamp?: string | undefined
  /** Whether it is a named pipe, whose other end may never be opened. */
  readonly isPipe?: boolean
}

/** How the texts of its rows are prepared. */
export interface TextRules {
  /** Whether to remove the blanks around texts. */
  readonly isTrimmed: boolean
  /** Texts that mean null. */
  readonly nulls: readonly string[]
}

/** A file that has been read, for the log of imports: its size and digest as stored. */
export interface ImportedFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

const formatOfEnding: ReadonlyMap<string, Format> = new Map([
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['json', 'json'],
  ['geojson', 'json'],
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['tab', 'tsv'],
  ['parquet', 'parquet'],
])

/**
 * The files that the arguments name, each once, in their order; the matches of a glob are sorted by
 * name.
 *
 * @throws OperatorError if an argument names nothing that can be read.
 */
export async function findSourceFiles(
  words: readonly string[],
  options: FileOptions = {},
): Promise<SourceFile[]> {
  const names = new Set(words.flatMap((word) => expand(word)))
  const files: SourceFile[] = []
  for (const name of names) files.push(await describe(name, options))
  return files
}

function expand(word: string): string[] {
  if (word === '-' || !/[*?[{]/.test(word) || statOf(word) !== undefined) return [word]
  const found = globSync(word).sort()
  if (found.length === 0) throw new OperatorError(`no file matches ${word}`)
  return found
}

/** Undefined if nothing exists there. @throws OperatorError if the path cannot be looked up. */
function statOf(path: string) {
  return orExplain(
    () => statSync(path, { throwIfNoEntry: false }),
    (reason) => `${path} cannot be read: ${reason}`,
  )
}

async function describe(name: string, options: FileOptions): Promise<SourceFile> {
  if (name === '-') {
    const format = formatFor(options.format ?? 'ndjson', options)
    return { name, format, compression: 'none', size: undefined, options }
  }
  const stat = statOf(name)
  if (stat === undefined)
    throw new OperatorError(`${shellWord(name)} does not exist; correct its name`)
  if (stat.isDirectory()) throw new OperatorError(`${name} is a folder; name its files: ${name}/*`)
  try {
    accessSync(name, constants.R_OK)
  } catch {
    throw new OperatorError(`${name}: permission denied`)
  }
  if (stat.isFile() && stat.size === 0 && isPacked.test(name)) {
    throw new OperatorError(`${name} is empty; get the file again`)
  }
  const entry = stat.isFile() && isZip(name) ? await findZipEntry(name) : undefined
  const { compression, ending } = endingOf(entry?.path ?? name)
  const format = formatFor(options.format ?? formatOf(name, ending, entry), options)
  // A pipe (`<(…)`, /dev/stdin) has no size.
  const size = stat.isFile() ? stat.size : undefined
  // Some file systems say that each file has no bytes, and make it anew for each reader.
  const file = { name, format, size, options, stamp: size ? stampOf(stat) : undefined }
  if (entry === undefined) return { ...file, compression, isPipe: stat.isFIFO() }
  if (compression === 'none') return { ...file, compression: 'zip', entry }
  throw new OperatorError(
    `${name} contains ${entry.path}, which is itself compressed; unzip it, and import that file`,
  )
}

const stampOf = ({ ino, size, mtimeMs }: Stats) => `${ino} ${size} ${mtimeMs}`

/**
 * @throws OperatorError if a file has changed since the command began, as during an upload: what it
 *   lacked would be taken for removed.
 */
export function refuseChanged({ name, stamp }: SourceFile): void {
  const stat = stamp === undefined ? undefined : statOf(name)
  if (stat === undefined || stampOf(stat) === stamp) return
  throw new OperatorError(`${name} has changed while it was read; import it when it is complete`)
}

/** Files in these formats have bytes even if they have no rows. */
const isPacked = /\.(?:gz|zst|zip|parquet)$/i

/** A file that begins like an archive, or has the name of one. */
function isZip(name: string): boolean {
  return readStart(name, 4).toString('latin1') === 'PK\x03\x04' || /\.zip$/i.test(name)
}

function formatOf(name: string, ending: string, entry: ZipEntry | undefined): Format {
  const format = formatOfEnding.get(ending)
  if (format !== undefined) return format
  refuseOtherEnding(name, ending)
  const near = nearest(ending, [...formatOfEnding.keys()])
  const within = entry === undefined ? '' : `: ${entry.path}`
  throw new OperatorError(
    `${name}${within}: unknown format${near ? ` (did you mean .${near}?)` : ''}; ` +
      `name it with --format ${formats.join('|')}`,
  )
}

/** The rows in an object are JSON, whatever the name of the file. */
function formatFor(format: Format, { records }: FileOptions): Format {
  return records !== undefined && format === 'ndjson' ? 'json' : format
}

const compressionOf: ReadonlyMap<string, 'gzip' | 'zstd'> = new Map([
  ['gz', 'gzip'],
  ['gzip', 'gzip'],
  ['bgz', 'gzip'],
  ['zst', 'zstd'],
  ['zstd', 'zstd'],
])

function endingOf(name: string): { compression: 'none' | 'gzip' | 'zstd'; ending: string } {
  const parts = name.toLowerCase().split('.')
  const last = parts.pop() ?? ''
  const compression = compressionOf.get(last)
  return compression === undefined
    ? { compression: 'none', ending: last }
    : { compression, ending: parts.pop() ?? '' }
}
