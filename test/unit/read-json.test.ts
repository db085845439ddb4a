// NDJSON and JSON arrays: bytes in any pieces, rows out, each with its line or row.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { openText } from '../../src/files/file-content.ts'
import { rowBytesMax } from '../../src/files/json/parse-row.ts'
import { readJson } from '../../src/files/json/read-json.ts'
import { type PlacedRow, Refusal, type Rows } from '../../src/files/refusal.ts'
import { OperatorError } from '../../src/config/operator-error.ts'

type Pieces = readonly (string | Uint8Array)[]

async function* stream(pieces: Pieces): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece))
}

async function gather(batches: AsyncIterable<Rows>): Promise<PlacedRow[]> {
  const gathered: PlacedRow[] = []
  for await (const rows of batches) gathered.push(...rows)
  return gathered
}

const read = async (format: 'ndjson' | 'json', pieces: Pieces) => {
  const content = await openText(stream(pieces))
  return gather(readJson({ name: 'x.json', format, options: {} }, content, 0))
}
const ndjson = (...pieces: Pieces) => read('ndjson', pieces)
const json = (...pieces: Pieces) => read('json', pieces)

/** Rows as a test writes them: `[number, row]`, or `[number, the refusal's reason]`. */
function shown(rows: readonly PlacedRow[]) {
  return rows.map(({ number, row }) => [number, row instanceof Refusal ? row.reason : row])
}

const numberOf = ({ number }: PlacedRow) => number

/** A text split into chunks anywhere, even within a character. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...ends].map((start, n) => bytes.subarray(start, ends[n] ?? bytes.length))
}

const anyPlaces = fc.array(fc.nat(), { maxLength: 12 })
const anyRow = fc.dictionary(
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('"', '\\', '\\"', '[', '{', '}', ']', ',', '\n', '\u2028', '😀'),
    fc.jsonValue({ maxDepth: 2 }),
  ),
  { maxKeys: 4 },
)

describe('NDJSON', () => {
  test('lines end with LF, CRLF or the end of the file; blank lines count but are not rows (G17)', async () => {
    assert.deepEqual(shown(await ndjson('\n{"a":1}\r\n \t\r\n\n{"a":2}\n{"a":3}')), [
      [2, { a: 1 }],
      [5, { a: 2 }],
      [6, { a: 3 }],
    ])
  })

  test('a blank line counts at the end of a chunk, too (G17)', async () => {
    const chunk = `${'{"a":1234567890123}\n'.repeat(32)}\n`
    assert.deepEqual((await ndjson(chunk, '{"a":2}\n')).at(-1)?.number, 34)
  })

  test('a byte order mark is skipped at the start only (G17)', async () => {
    const rows = shown(await ndjson('\uFEFF{"a":1}\n\uFEFF{"a":2}\n'))
    assert.deepEqual(rows[0], [1, { a: 1 }])
    assert.match(JSON.stringify(rows[1]), /not valid JSON/)
  })

  test('a byte order mark may be split across chunks, and a file may be shorter than one (G17)', async () => {
    const mark = [Buffer.from([0xef]), Buffer.from([0xbb]), Buffer.from([0xbf, 0x7b, 0x7d])]
    assert.deepEqual(shown(await ndjson(...mark)), [[1, {}]])
    assert.deepEqual(shown(await json(...mark)), [[1, {}]])
    assert.deepEqual(shown(await ndjson('{}')), [[1, {}]])
    assert.deepEqual(shown(await json('\uFEFF')), [])
    for (const bytes of ['', '\n', '\uFEFF', ' \r\n']) assert.deepEqual(await ndjson(bytes), [])
    for (const bytes of ['[]', ' [ \n ] ']) assert.deepEqual(await json(bytes), [])
  })

  test('invalid UTF-8 is reported with its line, and the other lines are read (G13)', async () => {
    const rows = await ndjson('{"a":1}\n{"a":"', Uint8Array.of(0xc3), '"}\n{"a":3}\n')
    assert.deepEqual(shown(rows), [
      [1, { a: 1 }],
      [2, 'is not valid UTF-8; choose one of these encodings: --encoding NAME'],
      [3, { a: 3 }],
    ])
  })

  test('a line of the maximum length is read, one byte more is refused', async () => {
    const line = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
    const rows = await ndjson(line(rowBytesMax), '\n', line(rowBytesMax + 1), '\n{"a":3}')
    const told = rows.map(({ row }) => row instanceof Refusal && row.reason)
    assert.deepEqual(told, [false, 'is longer than 8 MiB', false])
  })

  test('lines that only together are JSON are refused, each with its line', async () => {
    const rows = await ndjson('{"a":1},{"b":[{"c":1}\n{"d":2}]}\n{"a":3}\n')
    const found = rows.map(({ number, row }) => [number, row instanceof Refusal])
    assert.deepEqual(found, [
      [1, true],
      [2, true],
      [3, false],
    ])
  })

  test('a line that is not JSON is shown around its fault, and similar faults have one reason', async () => {
    const lines = [1, 90].map((length) => `{"name":"${'x'.repeat(length)}","b":"y",}`)
    const rows = (await ndjson(lines.join('\n'))).map(({ row }) => row as Refusal)
    const reason = 'is not valid JSON (Expected double-quoted property name)'
    const told = rows.map((row) => [row.reason, row.row])
    const expected = lines.map((line) => [reason, line])
    assert.deepEqual(told, expected)
    const values = rows.map(({ value }) => value)
    assert.deepEqual(values, [lines[0], `…${'x'.repeat(50)}","b":"y",}`])
  })

  test('a member that a line has twice is refused, whatever the lines around it', async () => {
    const around = Array.from({ length: 100 }, (_, n) => `{"a":${n},"b":"x"}`)
    // Seven lines of 32 are as much too short as the one with the doubled member is too long.
    const mixed = (n: number) => (n % 32 >= 24 && n % 32 < 31 ? '\n' : '\r\n')
    for (const endOf of [() => '\n', () => '\r\n', mixed]) {
      const lines = around.with(70, '{"a":70,"b":"x","a":1}').map((line, n) => line + endOf(n))
      const rows = await ndjson(lines.join(''))
      const refused = rows.filter(({ row }) => row instanceof Refusal)
      assert.deepEqual(shown(refused), [[71, 'occurs twice in the JSON object']])
      assert.equal(rows.length, around.length)
    }
  })

  test('any lines are read alike by themselves and among others', async () => {
    const anyLine = fc.oneof(
      anyRow.map((row) => JSON.stringify(row)),
      fc.constantFrom(
        '',
        ' ',
        '1',
        '[]',
        '{',
        '}',
        '{"a":1},{"b":2}',
        '{"a": 1, "b": 2}',
        '"',
        '[',
      ),
      fc.constantFrom('{"a":1,"a":2}', '{"a":1}\r', ',', '{"\\u0061":1}', '{"a":1e3}', 'null'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(anyLine, { maxLength: 80 }), async (lines) => {
        const alone = await Promise.all(lines.map(async (line) => (await ndjson(line))[0]?.row))
        const expected = alone.flatMap((row, n) => (row ? [{ file: 0, number: n + 1, row }] : []))
        const found = await ndjson(lines.map((line) => `${line}\n`).join(''))
        for (const { row, text } of found) {
          if (text !== undefined) assert.equal(text.toString(), JSON.stringify(row))
        }
        const rows = found.map(({ file, number, row }) => ({ file, number, row }))
        assert.deepEqual(rows, expected)
      }),
    )
  })

  test('any bytes split into any chunks give the same rows and refusals', async () => {
    const anyBytes = fc
      .array(
        fc.constantFrom(
          '{"a":1}',
          '{"é":"😀"}',
          '\n',
          '\r\n',
          ' ',
          '\xef\xbb\xbf',
          '{',
          '"',
          '\xff',
        ),
      )
      .map((pieces) => Buffer.from(pieces.join(''), 'latin1'))
    await fc.assert(
      fc.asyncProperty(anyBytes, anyPlaces, async (bytes, places) => {
        assert.deepEqual(await ndjson(...cut(bytes, places)), await ndjson(bytes))
      }),
    )
  })
})

describe('a JSON array', () => {
  test('numbers its rows from 1, whatever its white space', async () => {
    assert.deepEqual(shown(await json('\uFEFF\r\n [ {"a":[1,2]}\n,\t{"b":"]"} ] \n')), [
      [1, { a: [1, 2] }],
      [2, { b: ']' }],
    ])
  })

  test('a missing element or one that is not an object is refused with its row', async () => {
    const rows = await json('[{"a":1},2,,{"a":4},]')
    const refused = rows.filter(({ row }) => row instanceof Refusal)
    assert.deepEqual(rows.map(numberOf), [1, 2, 3, 4, 5])
    assert.deepEqual(refused.map(numberOf), [2, 3, 5])
  })

  test('an element with a line end in a text is refused, and the next one is read', async () => {
    const rows = shown(await json('[{"a":"x\ny"},\n{\n"a":2}]'))
    assert.match(JSON.stringify(rows[0]), /^\[1,"is not valid JSON/)
    assert.deepEqual(rows.slice(1), [[2, { a: 2 }]])
  })

  test('an element that is too long is refused, and the next one is read', async () => {
    const rows = await json('[{"a":"', 'x'.repeat(rowBytesMax), '"},{"a":2}]')
    assert.deepEqual(shown(rows), [
      [1, 'is longer than 8 MiB'],
      [2, { a: 2 }],
    ])
  })

  test('what follows its end, or a wrong closing bracket, is an error', async () => {
    for (const bytes of ['[] []', '[{"a":1}]{"a":2}', '[{"a":1}],', '[]]']) {
      await assert.rejects(json(bytes), /has content after the end/, bytes)
    }
    for (const bytes of ['[}', '[{"a":1}}', '[{"a":[1}]']) {
      const rows = await json(bytes).then(shown, (error: unknown) => error)
      const isTold = Array.isArray(rows) && rows.some(([, row]) => typeof row === 'string')
      assert.ok(isTold || rows instanceof OperatorError, `it was read as ${JSON.stringify(rows)}`)
    }
  })

  test('any array split into any chunks has the same rows', async () => {
    const anySpace = fc.constantFrom(undefined, 1, '\t')
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow), anySpace, anyPlaces, async (rows, space, places) => {
        const text = JSON.stringify(rows, null, space)
        const read = await json(...cut(Buffer.from(text), places))
        assert.equal(JSON.stringify(read.map(({ row }) => row)), JSON.stringify(rows))
      }),
    )
  })

  test('an array truncated anywhere is an error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow), fc.nat(), async (rows, place) => {
        const bytes = Buffer.from(JSON.stringify(rows))
        const start = bytes.subarray(0, 1 + (place % (bytes.length - 1)))
        await assert.rejects(json(start), /ends in the middle/)
      }),
    )
  })
})
