// Records as CSV (RFC 4180), made from their JSON texts (contract 11.2), byte by byte: parsing them
// takes three times as long.

const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c]
const [objectBegin, objectEnd, listBegin, listEnd] = [0x7b, 0x7d, 0x5b, 0x5d]
const beginOfNull = 0x6e
const lineEnd = '\r\n'

/** Makes CSV of records. @param names the names of their fields, in the order of their texts. */
export function createCsvWriter(names: readonly string[]) {
  const labels = names.map((name, n) => Buffer.byteLength(`${n === 0 ? '{' : ','}"${name}":`))
  const recordMin = labels.reduce((sum, label) => sum + label + 1, 1)

  /** The maximum size of the lines of texts: a cell is at most twice as long as its JSON. */
  function bytesMaxOf(texts: Uint8Array, before = ''): number {
    const records = Math.ceil(texts.length / recordMin)
    return 2 * texts.length + records * (before.length + lineEnd.length)
  }

  /**
   * @param texts JSON texts of records, joined by commas; each has all fields, and no spaces.
   * @param into has space for them (`bytesMaxOf`) from `end` on.
   * @param before the beginning of each line.
   * @returns the end of the lines.
   */
  function write(texts: Uint8Array, into: Buffer, end: number, before = ''): number {
    const cells: Cells = { texts, at: 0, into, end }
    // After a record, there are its brace and a comma.
    for (; cells.at < texts.length; cells.at += 2) {
      if (before !== '') cells.end += into.write(before, cells.end)
      for (const label of labels) {
        cells.at += label
        if (texts[cells.at - 1] !== colon) throw new Error('a record has other fields')
        writeCell(cells)
        into[cells.end++] = comma
      }
      cells.end += into.write(lineEnd, cells.end - 1, 'latin1') - 1
    }
    return cells.end
  }

  return {
    /** The names of the fields, as the first line. */
    header: names.join(',') + lineEnd,
    bytesMaxOf,
    write,
    /** The lines of texts, as `write` makes them. */
    rows(texts: Uint8Array, before?: string): Buffer {
      const into = Buffer.allocUnsafe(bytesMaxOf(texts, before))
      return into.subarray(0, write(texts, into, 0, before))
    },
  }
}

/** The places in a text and in the lines made of it. */
interface Cells {
  readonly texts: Uint8Array
  at: number
  readonly into: Buffer
  end: number
}

/** Writes a cell: null is empty; anything but a text or a number is JSON. */
function writeCell(cells: Cells): void {
  const first = cells.texts[cells.at]
  if (first === quote) writeText(cells)
  else if (first === beginOfNull) cells.at += 'null'.length
  else if (first === listBegin || first === objectBegin) writeJson(cells)
  else writeNumber(cells)
}

function writeNumber(cells: Cells): void {
  const { texts, into } = cells
  let { at, end } = cells
  for (let byte = texts[at]; byte !== comma && byte !== objectEnd; byte = texts[++at]) {
    if (byte === undefined) throw endsTooEarly()
    into[end++] = byte
  }
  cells.at = at
  cells.end = end
}

function writeText(cells: Cells): void {
  const { texts, into } = cells
  let { at, end } = cells
  into[end++] = quote
  for (let byte = texts[++at]; byte !== quote; byte = texts[++at]) {
    if (byte === backslash) {
      byte = texts[++at]
      if (byte === quote) into[end++] = quote
      else if (byte !== backslash) return writeEscaped(cells)
    }
    if (byte === undefined) throw endsTooEarly()
    into[end++] = byte
  }
  into[end++] = quote
  cells.at = at + 1
  cells.end = end
}

/** Writes a text that has escaped characters, which is rare. */
function writeEscaped(cells: Cells): void {
  const { texts, at, into } = cells
  let last = at + 1
  for (; texts[last] !== quote; last += texts[last] === backslash ? 2 : 1) {
    if (last >= texts.length) throw endsTooEarly()
  }
  const json = Buffer.from(texts.subarray(at, last + 1)).toString()
  const text = JSON.parse(json) as string
  cells.end += into.write(`"${text.replaceAll('"', '""')}"`, cells.end)
  cells.at = last + 1
}

function writeJson(cells: Cells): void {
  const { texts, into } = cells
  let { at, end } = cells
  let depth = 0
  let isText = false
  into[end++] = quote
  do {
    let byte = texts[at++]
    if (byte === quote) isText = !isText
    else if (byte === backslash) {
      into[end++] = backslash
      byte = texts[at++]
    } else if (!isText) depth += depthOf(byte)
    if (byte === undefined) throw endsTooEarly()
    if (byte === quote) into[end++] = quote
    into[end++] = byte
  } while (depth > 0)
  into[end++] = quote
  cells.at = at
  cells.end = end
}

function depthOf(byte: number | undefined): number {
  if (byte === listBegin || byte === objectBegin) return 1
  return byte === listEnd || byte === objectEnd ? -1 : 0
}

const endsTooEarly = () => new Error('a record ends too early')
