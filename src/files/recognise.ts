// Recognises content that contradicts a file's name or the options.

import { OperatorError } from '../config/operator-error.ts'
import { companyColumns } from '../resources/resource.ts'
import { isCsv } from './csv-record.ts'
import { arraysIn } from './json/json-array.ts'
import type { SourceFile } from './source-file.ts'
import { shellWord } from '../text/shell-word.ts'

/** Content, and what to do about it. */
interface Kind {
  /** One of its possible first bytes, or their pattern as text. */
  readonly begins: readonly string[] | RegExp
  /** The ending of its name, if that shows the kind. */
  readonly ending?: RegExp
  readonly what: string
  readonly advice: string
}

const kinds: readonly Kind[] = [
  {
    begins: ['%PDF-'],
    ending: /^pdf$/,
    what: 'a PDF document',
    advice: 'export its table as CSV, or ask for the data',
  },
  {
    // A zip archive, gzip, zstd, bzip2, xz, 7z, RAR and lz4.
    begins: [
      'PK\x03\x04',
      '\x1f\x8b',
      '\x28\xb5\x2f\xfd',
      'BZh9',
      '\xfd7zXZ',
      '7z\xbc\xaf',
      'Rar!\x1a',
      '\x04"M\x18',
    ],
    ending: /^(?:tar|tgz|tbz2?|txz|bz2|xz|lz4|z|lzma|br|7z|rar)$/,
    what: 'an archive, or compressed in a way that is not read',
    advice: 'unpack it, and import the file in it',
  },
  {
    begins: ['\xd0\xcf\x11\xe0'],
    ending: /^xls$/,
    what: 'an old Excel workbook',
    advice: 'save its sheet as "CSV UTF-8"',
  },
  {
    begins: ['version https://git-lfs.'],
    what: 'a Git LFS pointer, not the file itself',
    advice: 'fetch it: git lfs pull',
  },
  {
    begins: /^<(?:(?:!doctype\s+html|html|head|body|table)\b|!--)/i,
    ending: /^html?$/,
    what: 'an HTML page, such as a login or an error in place of a download',
    advice: 'look at it in a browser, and download the file again',
  },
  {
    begins: /^<(\?xml|[a-z])/i,
    ending: /^xml$/,
    what: 'XML',
    advice: 'convert it to NDJSON or CSV, as with the program in docs/mappings.md',
  },
]

const [tab, newline, carriageReturn] = [0x09, 0x0a, 0x0d]

/** Whether bytes may be text: without control characters, and not empty. */
export function isText(start: Buffer): boolean {
  const sample = start.subarray(0, 512)
  const isControl = (byte: number) =>
    byte < 0x20 && byte !== tab && byte !== newline && byte !== carriageReturn
  return sample.length > 0 && !sample.some(isControl)
}

/**
 * Refuses content that is recognisably not of its file's format.
 *
 * @param start the first bytes, decompressed and, unless it is Parquet, as UTF-8.
 * @throws OperatorError that says what it is, and what to do.
 */
export function refuseOtherContent(file: SourceFile, start: Buffer): void {
  const bytes = start.subarray(0, 1_024).toString('latin1')
  const head = bytes.trimStart()
  const mayBeText = isText(start)
  // The header of a first file in an archive.
  if (bytes.startsWith('ustar', 257)) refuseOtherEnding(file.name, 'tar')
  refuseKind(file.name, ({ begins }) => isBegun(head, begins))
  const isParquet = head.startsWith('PAR1')
  if (file.format === 'parquet') {
    if (!isParquet && mayBeText) throw mistaken(file, 'is text, not Parquet', 'csv')
    return
  }
  if (isParquet && !mayBeText) throw mistaken(file, 'is Parquet', 'parquet')
  if (!isCsv(file)) refuseOtherJson(file, start)
  else if (file.options.skippedLines === undefined) refuseJson(file, head)
}

/**
 * Refuses a file by an ending that belongs to none of the known formats.
 *
 * @throws OperatorError that says what to do, if the ending shows what the file is.
 */
export function refuseOtherEnding(name: string, ending: string): void {
  refuseKind(name, (kind) => kind.ending?.test(ending) === true)
}

function refuseKind(name: string, isKind: (kind: Kind) => boolean): void {
  const kind = kinds.find(isKind)
  if (kind === undefined) return
  throw new OperatorError(`${name} is ${kind.what}; ${kind.advice}`)
}

function isBegun(head: string, begins: Kind['begins']): boolean {
  if (begins instanceof RegExp) return begins.test(head)
  return begins.some((text) => head.startsWith(text))
}

function mistaken({ name }: SourceFile, is: string, format: string): OperatorError {
  return new OperatorError(`${name} ${is}; add --format ${format}`)
}

function refuseJson(file: SourceFile, head: string): void {
  if (!/^(\[\s*)?\{\s*"/.test(head)) return
  const format = head.startsWith('[') || /^\{\s*\n/.test(head) ? 'json' : 'ndjson'
  throw mistaken(file, `is JSON, not ${file.format.toUpperCase()}`, format)
}

/** Refuses what is not JSON, and JSON whose rows are not at the top level. */
function refuseOtherJson(file: SourceFile, start: Buffer): void {
  const text = start.toString().trimStart()
  if (text === '') return
  const lines = text.split('\n')
  const isNdjson = file.format === 'ndjson'
  if (!/^[[{]/.test(text)) {
    // If some lines are JSON, each line that is not is refused by itself.
    if (lines.slice(0, 100).some((line) => /^\s*[[{]/.test(line))) return
    const [first = ''] = lines
    if (!/[,;\t|]/.test(first) || first.startsWith('"') !== /^"[^"]*"[,;\t|]/.test(first)) return
    const shown = JSON.stringify(first.trimEnd().slice(0, 60))
    throw new OperatorError(
      `${file.name} is not JSON: it begins with ${shown}; if it is CSV, add --format csv`,
    )
  }
  if (text.startsWith('[')) {
    if (isNdjson && /^\[\s*(?:\{|\]\s*$)/.test(text))
      throw mistaken(file, 'is a JSON array', 'json')
    return
  }
  if (file.options.records !== undefined) return
  if (isOneObject(file, lines)) {
    const isLine = lines.slice(1).join('').trim() === ''
    throw oneObject(file.name, arraysIn(start), isLine)
  }
}

/** Whether a text that begins with a brace is one object on several lines, rather than NDJSON. */
function isOneObject(
  { format, options }: SourceFile,
  [first = '', ...others]: readonly string[],
): boolean {
  const next = others.find((line) => line.trim() !== '')
  // A line that is longer than what has been read is a row, where a line is one.
  if (next === undefined) {
    const isKnownRow = options.format === 'ndjson' || isRow(first, format)
    return !isKnownRow && arraysIn(Buffer.from(first)).length > 0
  }
  return next.trimStart().startsWith('{') ? /\[\s*$/.test(first) : /[[{,]\s*$/.test(first)
}

/**
 * Whether a line may be a row: its object names a company or, if rows are lines, has a text. Of
 * a line that does not end within what has been read, only the format tells.
 */
function isRow(line: string, format: SourceFile['format']): boolean {
  try {
    const members = Object.entries(JSON.parse(line) as object)
    const isText = (value: unknown) => format === 'ndjson' && typeof value === 'string'
    return members.some(([name, value]) => rowColumns.has(name) || isText(value))
  } catch {
    return format === 'ndjson' || line.length < 60_000
  }
}

const rowColumns: ReadonlySet<string> = new Set([...companyColumns, 'jurisdiction', 'identifier'])

function oneObject(name: string, paths: readonly string[], isLine: boolean): OperatorError {
  if (paths.length === 0) {
    return new OperatorError(
      `${name} is JSON on several lines, but neither an array nor one object a line; rewrite it: ` +
        `jq -c . ${shellWord(name)}`,
    )
  }
  const options = paths.map((path) => `--records ${shellWord(path)}`).join(' or ')
  const joined = `jq -c . ${shellWord(name)} > rows.ndjson, and then `
  const toLine = `${isLine ? '' : joined}--format ndjson`
  return new OperatorError(
    `${name} is one JSON object; name the array in it that has the rows: ${options}; if it is ` +
      `a row itself: ${toLine}`,
  )
}
