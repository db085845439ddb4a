// Reads NDJSON and JSON arrays as rows, each with the number of its line or row.
//
// Memory is bounded by the longest row that is accepted; a longer one is refused and skipped.

import type { PlacedRow, Refusal, Rows, SourceRow } from '../refusal.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { Content } from '../file-content.ts'
import type { SourceFile } from '../source-file.ts'
import { createArrayWalk, noArray, pathsMax } from './json-array.ts'
import { parseRow, parseTogether, rowBytesMax, tooLong } from './parse-row.ts'

const newline = 0x0a
// JSON has no other character up to it outside its strings.
const blankMax = 0x20

/** How many lines are parsed together: most rows are unused before the next garbage collection. */
const linesAtOnce = 32

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
    for (const { starts, longest } of inGroups(lines)) {
      const lineAt = (n: number) => lines.subarray(starts[n], (starts[n + 1] ?? 0) - 1)
      const some = lines.subarray(starts[0], (starts.at(-1) ?? 0) - 1)
      const together = parseTogether(some, longest)
      for (let n = 0; n < starts.length - 1; n += 1) {
        number += 1
        const row = together === undefined ? parseLine(lineAt(n)) : together.rows[n]
        const text = together?.isPlain === true ? lineAt(n) : undefined
        if (row !== undefined) yield { file, number, row, text }
      }
    }
  }
  const { start, chunks } = content
  const batches = isArray(source, start) ? splitElements(source, chunks) : splitLines(chunks)
  for await (const lines of batches) yield rowsOf(lines)
}

/** Whether the rows of a text are the elements of an array, rather than its lines. */
function isArray({ format, options }: Pick<SourceFile, 'format' | 'options'>, start: Buffer) {
  if (format === 'ndjson') return false
  return options.records !== undefined || /^\s*\[/.test(start.toString('latin1'))
}

/** Undefined for a blank line. */
function parseLine(line: Buffer): SourceRow | Refusal | undefined {
  return isBlankLine(line) ? undefined : parseRow(line)
}

function isBlankLine(line: Buffer): boolean {
  return line.length === 0 || ((line[0] ?? 0) <= 32 && line.toString().trim() === '')
}

/** Whole lines, those of each chunk together; undefined for a line that is too long. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  const carry = createCarry()
  for await (const chunk of chunks) {
    const first = carry.isEmpty() ? 0 : chunk.indexOf(newline) + 1
    const end = chunk.lastIndexOf(newline) + 1
    if (first > 0) yield carry.take(chunk.subarray(0, first - 1))
    if (end > first) yield chunk.subarray(first, end)
    carry.add(chunk.subarray(end))
  }
  if (!carry.isEmpty()) yield carry.take(Buffer.alloc(0))
}

/** Holds the beginning of a row that goes on in the next chunk. */
function createCarry() {
  let parts: Buffer[] = []
  let bytes = 0
  return {
    isEmpty: () => bytes === 0,
    add(part: Buffer): void {
      bytes += part.length
      if (bytes > rowBytesMax) parts = []
      else if (part.length > 0) parts.push(part)
    },
    /** The row with its end; undefined if it is too long. */
    take(end: Buffer): Buffer | undefined {
      const isTooLong = bytes + end.length > rowBytesMax
      const row = parts.length === 0 ? end : Buffer.concat([...parts, end])
      parts = []
      bytes = 0
      return isTooLong ? undefined : row
    },
  }
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
  const carry = createCarry()
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
        const element = carry.take(chunk.subarray(start, at))
        isInside = kind === 'comma'
        const isNone = !isInside && elements === 0 && element !== undefined && isBlankLine(element)
        if (element === undefined) {
          if (lines.length > 0) yield Buffer.concat(lines)
          lines = []
          yield undefined
        } else if (!isNone) lines.push(trimmed(element), lineEnd)
        elements += 1
        start = at + 1
      }
    }
    if (isInside) carry.add(chunk.subarray(start))
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
