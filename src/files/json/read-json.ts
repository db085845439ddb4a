// Reads NDJSON and JSON arrays as rows, each with the number of its line or row.
//
// Memory is bounded by the longest row that is accepted; a longer one is refused and skipped.

import type { PlacedRow, Refusal, Rows, SourceRow } from '../refusal.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { Content } from '../file-content.ts'
import type { SourceFile } from '../source-file.ts'
import { createArrayWalk, noArray, pathsMax } from './json-array.ts'
import { type ParsedRows, parseRow, parseTogether, rowBytesMax, tooLong } from './parse-row.ts'

const newline = 0x0a
// JSON has no other character up to it outside its strings.
const blankMax = 0x20

/** How many lines are parsed together: most rows are unused before the next garbage collection. */
const linesAtOnce = 32

/** Some parsed lines, and where each of them begins and ends. */
interface ParsedLines extends ParsedRows {
  readonly starts: readonly number[]
}

/** Parses lines, some at a time. */
function* parseLines(lines: Buffer): Generator<ParsedLines> {
  for (const { starts, longest } of inGroups(lines)) {
    const end = (starts.at(-1) ?? 0) - 1
    const some = lines.subarray(starts[0], end)
    const parsed = parseTogether(some, longest)
    yield { ...(parsed ?? { rows: parseEach(some), isPlain: false }), starts }
  }
}

/** Where some lines at a time begin, and the next one; the length of the longest in bytes. */
function* inGroups(lines: Buffer) {
  for (let start = 0; start < lines.length;) {
    const starts = [start]
    let longest = 0
    while (starts.length <= linesAtOnce && start < lines.length) {
      const at = lines.indexOf(newline, start)
      const next = (at < 0 ? lines.length : at) + 1
      longest = Math.max(longest, next - start)
      starts.push(next)
      start = next
    }
    yield { starts, longest }
  }
}

/** Parses lines one by one; undefined for a blank one. */
function* parseEach(lines: Buffer): Generator<SourceRow | Refusal | undefined> {
  for (let start = 0; start <= lines.length;) {
    const at = lines.indexOf(newline, start)
    const end = at < 0 ? lines.length : at
    const line = lines.subarray(start, end)
    yield isBlankLine(line) ? undefined : parseRow(line)
    start = end + 1
  }
}

/** The rows of NDJSON or a JSON array. */
export async function* readJson(
  source: Pick<SourceFile, 'name' | 'format' | 'options'>,
  content: Pick<Content, 'start' | 'chunks'>,
  file: number,
): AsyncGenerator<Rows> {
  let number = 0
  function* rowsOf(lines: Buffer | undefined): Generator<PlacedRow> {
    if (lines === undefined) {
      number += 1
      yield { file, number, row: tooLong() }
      return
    }
    for (const { rows, isPlain, starts } of parseLines(lines)) {
      let n = 0
      for (const row of rows) {
        number += 1
        n += 1
        const text = isPlain ? lines.subarray(starts[n - 1], (starts[n] ?? 0) - 1) : undefined
        if (row !== undefined) yield { file, number, row, text }
      }
    }
  }
  for await (const lines of rowLines(source, content)) yield rowsOf(lines)
}

/**
 * The rows of a text as lines, some at a time: the lines of NDJSON, or the elements of a JSON
 * array. Undefined for one that is too long.
 */
function rowLines(
  source: Pick<SourceFile, 'name' | 'format' | 'options'>,
  { start, chunks }: Pick<Content, 'start' | 'chunks'>,
): AsyncGenerator<Buffer | undefined> {
  return isArray(source, start) ? splitElements(source, chunks) : splitLines(chunks)
}

/** Whether the rows of a text are the elements of an array, rather than its lines. */
function isArray({ format, options }: Pick<SourceFile, 'format' | 'options'>, start: Buffer) {
  if (format === 'ndjson') return false
  return options.records !== undefined || /^\s*\[/.test(start.toString('latin1'))
}

function isBlankLine(line: Buffer): boolean {
  return line.length === 0 || ((line[0] ?? 0) <= 32 && line.toString().trim() === '')
}

/** Whole lines, those of each chunk together; undefined for a line that is too long. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let carry: Buffer[] = []
  let carriedBytes = 0
  for await (const chunk of chunks) {
    let start = 0
    if (carriedBytes > 0) {
      const end = chunk.indexOf(newline)
      if (end >= 0) {
        yield joined(carry, carriedBytes, chunk.subarray(0, end))
        carry = []
        carriedBytes = 0
        start = end + 1
      }
    }
    const end = carriedBytes > 0 ? start : chunk.lastIndexOf(newline) + 1
    if (end > start) {
      yield chunk.subarray(start, end)
      start = end
    }
    if (start < chunk.length) {
      carriedBytes += chunk.length - start
      if (carriedBytes > rowBytesMax) carry = []
      else carry.push(chunk.subarray(start))
    }
  }
  if (carriedBytes > 0) yield joined(carry, carriedBytes, Buffer.alloc(0))
}

function joined(carry: readonly Buffer[], carriedBytes: number, end: Buffer): Buffer | undefined {
  if (carriedBytes + end.length > rowBytesMax) return undefined
  return carry.length === 0 ? end : Buffer.concat([...carry, end])
}

/**
 * The elements of an array as lines; undefined for one that is too long.
 *
 * @throws OperatorError if there is no such array, or two, or what surrounds it is not valid.
 */
async function* splitElements(
  { name, options: { records } }: Pick<SourceFile, 'name' | 'options'>,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer | undefined> {
  const wanted = records ?? ''
  const walk = createArrayWalk(name, records === undefined ? 'array' : 'object', wanted)
  const paths = new Set<string>()
  let isFound = false
  let isInside = false
  let carry: Buffer[] = []
  let carriedBytes = 0
  let elements = 0
  for await (const chunk of chunks) {
    let lines: Buffer[] = []
    let start = 0
    for (const { at, path, kind } of walk.add(chunk)) {
      if (paths.size < pathsMax) paths.add(path)
      if (path === wanted && kind === 'start') {
        if (isFound) throw new OperatorError(`${name} has the array ${path} twice`)
        isFound = isInside = true
        start = at + 1
      } else if (path === wanted) {
        const element = joined(carry, carriedBytes, chunk.subarray(start, at))
        isInside = kind === 'comma'
        const isNone = !isInside && elements === 0 && element !== undefined && isBlankLine(element)
        if (element === undefined) {
          if (lines.length > 0) yield Buffer.concat(lines)
          lines = []
          yield undefined
        } else if (!isNone) lines.push(trimmed(element), lineEnd)
        elements += 1
        carry = []
        carriedBytes = 0
        start = at + 1
      }
    }
    if (isInside) {
      carriedBytes += chunk.length - start
      if (carriedBytes > rowBytesMax) carry = []
      else carry.push(chunk.subarray(start))
    }
    if (lines.length > 0) yield Buffer.concat(lines)
  }
  walk.end()
  if (!isFound) throw noArray(name, wanted, [...paths])
}

const lineEnd = Buffer.from('\n')
const missing = Buffer.from(',')

/** An element without the blanks around it. */
function trimmed(element: Buffer): Buffer {
  let [start, end] = [0, element.length]
  while (start < end && (element[start] ?? 0) <= blankMax) start += 1
  while (start < end && (element[end - 1] ?? 0) <= blankMax) end -= 1
  return start === end ? missing : element.subarray(start, end)
}
