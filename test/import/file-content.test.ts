// Files as they come: encodings, archives, lines before the header, rows that do not fit it.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { RejectedRow } from '../../src/import/import-files.ts'
import type { FileOptions } from '../../src/files/source-file.ts'
import { folderWith, refuseFile, type RefusedFile } from '../support/import-folder.ts'
import { makeZip } from '../support/make-zip.ts'
import { readSaid } from '../support/said.ts'

const csv = 'id,company_id,name\n1,7,one\n2,7,two\n'
const names = (records: readonly { readonly name?: unknown }[]) => records.map(({ name }) => name)

/** The bytes of a text of ASCII and of characters that are given with their bytes. */
function encoded(text: string, bytesOf: Readonly<Record<string, readonly number[]>>): Buffer {
  const bytes = Array.from(text, (one) => bytesOf[one] ?? [one.charCodeAt(0)]).flat()
  return Buffer.from(bytes)
}

const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16()

/** For each encoding a text, and its bytes by the encoding's published table. */
const encodings: readonly (readonly [FileOptions['encoding'], text: string, bytes: Buffer])[] = [
  ['utf-8', 'Žluťoučký', Buffer.from('Žluťoučký')],
  ['utf-16le', 'Žluť 😀', Buffer.from('Žluť 😀', 'utf16le')],
  ['utf-16be', 'Žluť 😀', swapped('Žluť 😀')],
  ['utf-16', 'Žluť', Buffer.from('\uFEFFŽluť', 'utf16le')],
  ['utf-16', 'Žluť', swapped('\uFEFFŽluť')],
  ['latin1', 'Müller ¤', encoded('Müller ¤', { ü: [0xfc], '¤': [0xa4] })],
  ['windows-1250', 'Łódź', encoded('Łódź', { Ł: [0xa3], ó: [0xf3], ź: [0x9f] })],
  ['windows-1251', 'Жук', encoded('Жук', { Ж: [0xc6], у: [0xf3], к: [0xea] })],
  ['windows-1252', '“€”', encoded('“€”', { '“': [0x93], '€': [0x80], '”': [0x94] })],
  [
    'shift_jis',
    '日本ソ',
    encoded('日本ソ', { 日: [0x93, 0xfa], 本: [0x96, 0x7b], ソ: [0x83, 0x5c] }),
  ],
  ['euc-kr', '가나', encoded('가나', { 가: [0xb0, 0xa1], 나: [0xb3, 0xaa] })],
  ['gb18030', '中㐀', encoded('中㐀', { 中: [0xd6, 0xd0], 㐀: [0x81, 0x39, 0xee, 0x39] })],
]

/** A file with one record of this name, in an encoding that contains ASCII or is UTF-16. */
function fileOf(encoding: FileOptions['encoding'], name: Buffer, before: string, after: string) {
  const isMarked = name[0] === 0xff || name[0] === 0xfe
  const isSwapped = encoding === 'utf-16be' || name[0] === 0xfe
  const isWide = encoding?.startsWith('utf-16') === true
  const ascii = (text: string) =>
    isWide ? (isSwapped ? swapped(text) : Buffer.from(text, 'utf16le')) : Buffer.from(text)
  const [mark, rest] = isMarked ? [name.subarray(0, 2), name.subarray(2)] : [Buffer.alloc(0), name]
  return Buffer.concat([mark, ascii(before), rest, ascii(after)])
}

describe('each encoding is read as the text that it means', () => {
  for (const [encoding, text, bytes] of encodings) {
    test(`${encoding} in CSV, NDJSON and JSON, mapped and not: ${text}`, async (t) => {
      const { load, records } = folderWith(t, {
        'a.csv': fileOf(encoding, bytes, 'id,company_id,name\n1,7,', '\n'),
        'b.ndjson': fileOf(encoding, bytes, '{"id":2,"company_id":7,"name":"', '"}\n'),
        'c.json': fileOf(encoding, bytes, '[{"id":3,"company_id":7,"name":"', '"}]'),
        'd.csv.gz': gzipSync(fileOf(encoding, bytes, 'no,text\n4,', '')),
      })
      const file = { encoding }
      await load('rights', ['a.csv', 'b.ndjson', 'c.json'], { file })
      const mapping = 'select no as id, 7 as company_id, text as name from source'
      await load('rights', ['d.csv.gz'], { file, mapping })
      assert.deepEqual(names(records('rights')), [text, text, text, text])
    })
  }
})

test('UTF-16 with its byte order mark needs no option', async (t) => {
  const text = `\uFEFF${csv}`
  const { load, records } = folderWith(t, {
    'a.csv': Buffer.from(text, 'utf16le'),
    'b.csv': swapped(text.replaceAll('\n1', '\n3').replaceAll('\n2', '\n4')),
  })
  await load('rights', ['a.csv', 'b.csv'])
  assert.deepEqual(names(records('rights')), ['one', 'two', 'one', 'two'])
})

test('a long text is decoded the same whatever its chunks', async (t) => {
  const name = Buffer.concat(Array<Buffer>(20_000).fill(Buffer.from([0x83, 0x5c])))
  const bytes = Buffer.concat(
    Array.from({ length: 30 }, (_, n) => [
      Buffer.from(`${n + 1},7,`),
      name,
      Buffer.from('\n'),
    ]).flat(),
  )
  const file = { 'a.csv': Buffer.concat([Buffer.from('id,company_id,name\n'), bytes]) }
  const { load, records } = folderWith(t, file)
  await load('rights', ['a.csv'], { file: { encoding: 'shift_jis' } })
  assert.deepEqual(new Set(names(records('rights'))), new Set(['ソ'.repeat(20_000)]))
})

/** Bytes that an encoding does not have, and the message. */
const invalid: readonly (readonly [FileOptions['encoding'], number[], RegExp])[] = [
  [
    undefined,
    [0xe9],
    /line 3 is not valid UTF-8; choose the encoding in .*: --encoding NAME \(.*\), or .* iconv -f/,
  ],
  ['windows-1252', [0xc3, 0x81], /line 3 .* \(byte 0x81\); .*: --encoding utf-8$/],
  ['latin1', [0xc3, 0x80], /line 3 .* \(byte 0x80\); name .*: --encoding utf-8$/],
  ['latin1', [0x80], /line 3 is not valid latin1 \(byte 0x80\); it is probably windows-1252/],
  ['windows-1252', [0x81], /line 3 is not valid windows-1252 \(byte 0x81\)/],
  ['windows-1251', [0x98], /line 3 is not valid windows-1251/],
  ['shift_jis', [0x81, 0x20], /line 3 is not valid shift_jis/],
  ['euc-kr', [0xff], /line 3 is not valid euc-kr/],
  ['gb18030', [0xff], /line 3 is not valid gb18030/],
  ['gb18030', [0x81, 0x30], /line 3 is not valid gb18030.*: --encoding NAME$/],
]

for (const [encoding, bytes, says] of invalid) {
  const text = Buffer.from('id,company_id,name\n1,7,x\n2,7,')
  const file: RefusedFile = [Buffer.concat([text, Buffer.from(bytes)]), says, { encoding }]
  test(`bytes that are not ${encoding ?? 'UTF-8'} are refused with their line`, (t) =>
    refuseFile(t, 'a.csv', file))
}

test('half of a surrogate pair in UTF-16 is refused with its line', (t) => {
  const bytes = Buffer.from('id,company_id,name\n1,7,x\n2,7,\ud83d!\n', 'utf16le')
  const says = /line 3 is not valid utf-16le/
  return refuseFile(t, 'a.csv', [bytes, says, { encoding: 'utf-16le' }])
})

describe('a zip archive with one file is read as that file', () => {
  const one = { path: 'in/a.csv', bytes: Buffer.from(csv) }
  const mac = { path: '__MACOSX/in/._a.csv', bytes: Buffer.from('x') }
  const folder = { path: 'in/', bytes: Buffer.alloc(0), method: 0 }
  const long = 'x'.repeat(60_000)
  const large = Buffer.from(`id,company_id,name,status\n${`1,7,one,${long}\n`.repeat(30)}`)
  const archives: Readonly<Record<string, Buffer>> = {
    'deflated.zip': makeZip([one]),
    'stored.zip': makeZip([{ ...one, method: 0 }]),
    'mac.zip': makeZip([folder, one, mac]),
    'named.csv': makeZip([one]),
    'large.zip': makeZip([{ path: 'a.csv', bytes: large }]),
  }
  for (const [name, bytes] of Object.entries(archives)) {
    test(name, async (t) => {
      const { load, records } = folderWith(t, { [name]: bytes })
      const { files } = await load('rights', [name])
      assert.equal(names(records('rights'))[0], 'one')
      const sha256 = hash('sha256', bytes)
      const told = files.map((file) => [file.bytes, file.sha256])
      assert.deepEqual(told, [[bytes.length, sha256]])
    })
  }

  const faulty: Readonly<Record<string, RefusedFile>> = {
    'two.zip': [makeZip([one, { ...one, path: 'b.csv' }]), /contains 2 files: in\/a\.csv, .* it/],
    'none.zip': [makeZip([folder]), /is a zip archive without a file/],
    'secret.zip': [makeZip([{ ...one, isEncrypted: true }]), /in\/a\.csv is encrypted; decrypt it/],
    'method.zip': [makeZip([{ ...one, method: 14 }]), /has compression method 14, .* 7z x/],
    'crc.zip': [makeZip([{ ...one, checksum: 1 }]), /in\/a\.csv is damaged/],
    'size.zip': [makeZip([{ ...one, size: 9 }]), /in\/a\.csv is damaged/],
    'cut.zip': [makeZip([one]).subarray(0, 60), /is not a valid zip archive/],
    'inner.zip': [makeZip([{ ...one, path: 'a.csv.gz' }]), /contains a\.csv\.gz, which is itself/],
    'what.zip': [makeZip([{ ...one, path: 'a.bin' }]), /unknown format/],
    'inner-book.zip': [
      makeZip([{ ...one, path: 'a.xls' }]),
      /is an old Excel workbook; save its sheet/,
    ],
    'book.xlsb': [makeZip([{ ...one, path: 'xl/workbook.bin' }]), /is an Excel workbook/],
    'book.ods': [makeZip([one, { ...one, path: 'content.xml' }]), /is an OpenDocument workbook, /],
    'book.csv': [makeZip([{ ...one, path: 'xl/workbook.xml' }]), /is an Excel workbook/],
    'x.xlsx': [
      makeZip([{ ...one, path: 'xl/workbook.xml' }]),
      /is an Excel workbook, which is not supported; save its sheet as .*, or: libreoffice/,
    ],
  }
  for (const [name, file] of Object.entries(faulty)) {
    test(`${name} is refused`, (t) => refuseFile(t, name, file))
  }
})

describe('CSV is read', () => {
  const afterTwo = { skippedLines: 2 }
  /** Files with three records, and how they are read. */
  const files: Readonly<Record<string, readonly [text: string, file?: FileOptions]>> = {
    'with mixed line endings': ['id,company_id,name\r\n1,7,one\n2,7,two\r3,7,three\r\n'],
    'with a bare CR in quotes': ['id,company_id,name\n1,7,"one"\n2,7,"two\r2"\n3,7,three\n'],
    'with both': ['id,company_id,name\r\n1,7,"one"\n2,7,"two\r2"\r\n3,7,three'],
    'with everything in quotes': [
      '"id","company_id","name"\n"1","7","one"\n"2","7","two"\n"3","7","three"\n',
    ],
    'with an empty column at the end': [
      'id,company_id,name,status\n1,7,one,\n2,7,two,\n3,7,three,\n',
    ],
    'with one line break in quotes': [
      'id,company_id,name,status\r\n1,7,one,"x\r\ny"\r\n2,7,two,\r\n3,7,three,\r\n',
    ],
    'with a pipe between': ['id|company_id|name\n1|7|one\n2|7|two\n3|7|three\n'],
    'with blank lines': ['id,company_id,name\n\n1,7,one\n\n2,7,two\n3,7,three\n\n'],
    'with blank lines of blanks': ['id,company_id,name\n  \n1,7,one\n\n \n2,7,two\n3,7,three\n'],
    'with its header again, as where files were joined': [
      'id,company_id,name\n1,7,one\n\uFEFFid,company_id,name\n2,7,two\nid,"company_id",name,\n3,7,three\n',
    ],
    'with a delimiter at the end of lines': [
      'id,company_id,name\n1,7,one,\n2,7,two,\n3,7,three,\n',
    ],
    'with a delimiter at the end of all lines': [
      'id;company_id;name;\n1;7;one;\n2;7;"two";\n3;7;three;\n',
    ],
    'with empty columns and rows at the end, as spreadsheets write them': [
      'id;company_id;name;;\n1;7;one;;\n2;7;two;;\n;;;;\n3;7;three;;\n;;;;\n""; ;;;\n',
    ],
    'with more commas in texts than semicolons between them': [
      'id;company_id;name;status\n1;7;one;a,b,c,d,e,f,g,h\n2;7;two;a,b,c,d,e,f,g,h\n3;7;three;x\n',
    ],
    'after a title': ['All rights\n\nid,company_id,name\n1,7,one\n2,7,two\n3,7,three', afterTwo],
    'after a title with CRLF': [
      'A\r\n\r\nid,company_id,name\r\n1,7,one\r\n2,7,two\r\n3,7,three',
      afterTwo,
    ],
    'after a title with CR': ['A\r\rid,company_id,name\r1,7,one\r2,7,two\r3,7,three', afterTwo],
    'with quotes in its texts': [
      'id\tcompany_id\tname\tstatus\n1\t7\tone\t"a\n2\t7\ttwo\t"b" c\n3\t7\tthree\t5"\n',
      { hasQuotes: false },
    ],
    'with another delimiter': [
      'id^company_id^name\n1^7^one\n2^7^two\n3^7^three',
      { delimiter: '^' },
    ],
  }
  for (const [what, [text, file = {}]] of Object.entries(files)) {
    for (const mapping of [undefined, 'select * exclude (source_file, source_row) from source']) {
      test(`${what}${mapping === undefined ? '' : ', mapped'}`, async (t) => {
        const { load, records } = folderWith(t, { 'a.csv': text })
        const { problems } = await load('rights', ['a.csv'], { file, mapping })
        assert.deepEqual(problems, [])
        assert.match(names(records('rights')).join(), /^one,two(\r2)?,three$/)
      })
    }
  }
})

test('a mapping gets the cells that are read without one, whatever quotes and blanks', async (t) => {
  const rows = [
    ...['\uFEFFone,1,7', '  "two",2, "7"', ' "th""ree" ,"3" ,7', '"4, four",4,  "7"  '],
    ...['  "five\n5",5,7', 'si"x",6,7', '"\uFEFF""seven""",7,7'],
  ]
  const read = ['\uFEFFone', 'two', 'th"ree', '4, four', 'five\n5', 'si"x"', '\uFEFF"seven"']
  const header = 'name,id,company_id\n'
  const long = `a,b,c\n\uFEFFlong,4,"${'""'.repeat(70_000)}${'x'.repeat(9 << 20)}"\n`
  const files = {
    'a.csv': `${header}${rows.join('\n')}`,
    'b.csv': 'a1b\none12\n"1"1"3"\n',
    'c.csv': long,
  }
  for (const mapping of [undefined, 'select name, id, company_id from source']) {
    const { load, records } = folderWith(t, files)
    assert.deepEqual((await load('rights', ['a.csv'], { mapping })).problems, [])
    assert.deepEqual(names(records('rights')), read)
  }
  const { load, records } = folderWith(t, files)
  const mapping = 'select a as name, b as id, 7 as company_id from source'
  await load('rights', ['b.csv'], { mapping, file: { delimiter: '1' } })
  await load('rights', ['c.csv'], { mapping })
  assert.deepEqual(names(records('rights')), ['one', '1', '\uFEFFlong'])
})

const misfits = `id,company_id,name
1,7,one
2,7,two,2

3,7
4,7,"four\r
and\rmore
again"
5,7,"five"x
6,7,six
`

for (const mapping of [undefined, 'select * from source where name is not null']) {
  const kind = mapping === undefined ? 'CSV' : 'a mapping'
  test(`rows of ${kind} that do not fit the header are refused with their lines`, async (t) => {
    const { load, records } = folderWith(t, { 'a.csv': misfits })
    const refused: RejectedRow[] = []
    const options = { mapping, onRejected: (row: RejectedRow) => refused.push(row) }
    const { counts } = await load('rights', ['a.csv'], options)
    assert.deepEqual(names(records('rights')), ['one', 'four\r\nand\rmore\nagain', 'six'])
    assert.deepEqual(
      refused.map(({ number, line, reason, row }) => [number, line, reason.split(';')[0], row]),
      [
        [2, 3, 'has 4 cells, but there are 3 columns', '2,7,two,2'],
        [3, 5, 'has 2 cells, but there are 3 columns', '3,7'],
        [5, 10, 'has text after a closing quote', '5,7,"five"x'],
      ],
    )
    assert.equal(counts.refused, 3)
    const places = { 'b.csv': `Title\n${misfits.replaceAll('7,six', '7,')}` }
    const second = folderWith(t, places)
    const report = await second.load('rights', ['b.csv'], { file: { skippedLines: 1 } })
    assert.equal(report.version, undefined, 'without --rejects nothing is loaded')
    const found = report.problems.map(({ line }) => line)
    assert.deepEqual(found, [4, 6, 11])
  })
}

test('the columns of CSV without a header are those that --columns names', async (t) => {
  const { load, records } = folderWith(t, {
    'a.csv': '\n1;7;"one; 1"\n2;7;two\n',
    'ended.csv': '3,7,three,\n',
    'b.tsv': '\t7\tfour\n',
    'empty.csv': '',
    'c.csv': 'Rights\n5|7|five\n',
    'long.csv': '6,7,six,6\n',
  })
  const file = { columns: ['no', 'company_id', 'text'] }
  const mapping = "select coalesce(no, '4') as id, company_id, text as name from source"
  await load('rights', ['a.csv', 'ended.csv', 'b.tsv', 'empty.csv'], { file, mapping })
  await load('rights', ['c.csv'], {
    source: 'plain',
    file: { columns: ['id', 'company_id', 'name'], skippedLines: 1 },
  })
  assert.deepEqual(names(records('rights')), ['one; 1', 'two', 'three', 'four', 'five'])
  await assert.rejects(
    load('rights', ['long.csv'], { file, mapping }),
    /begins with "6,7,six,6", which has 4 cells, but --columns names 3; name each column once$/,
  )
})

test('a refused row of megabytes is reported whole, and the others are read', async (t) => {
  const long = 'x'.repeat(3 << 20)
  const rows = Array.from({ length: 20 }, (_, n) => `${n + 1},7,n\n`).join('')
  const { load } = folderWith(t, { 'a.csv': `id,company_id,name\n1,${long}\n${rows}` })
  const refused: unknown[] = []
  const { counts } = await load('rights', ['a.csv'], { onRejected: ({ row }) => refused.push(row) })
  assert.equal(counts.inserted, 20)
  assert.deepEqual(refused, [`1,${long}`])
})

test('texts that mean null are null, and all texts are trimmed, also in a mapping', async (t) => {
  const { load, records } = folderWith(t, {
    'a.csv': 'id,company_id,name,registration_number\n1,7, one ,NULL\n2,7,n/a, NULL \n',
    'b.csv': 'no,text\n 3 , NULL\n 4 ,\u00a0four\n',
    'c.ndjson':
      '{"id":5,"company_id":7,"name":" NULL","registration_number":" x ","holders":[" n/a"," a "]}\n',
  })
  const options = { texts: { nulls: ['NULL', 'n/a'], isTrimmed: true } }
  await load('rights', ['a.csv', 'c.ndjson'], options)
  const mapping = `select no as id, 7 as company_id, coalesce(text, 'none') as name,
    case when no = '3' then 'NULL' end as registration_number from source`
  await load('rights', ['b.csv'], { ...options, mapping })
  const told = records('rights').map((row) => [
    ...[row['name'], row['registration_number'], row['holders']],
  ])
  assert.deepEqual(told, [
    ['one', null, []],
    [null, null, []],
    ['none', 'NULL', []],
    ['four', null, []],
    [null, 'x', ['a']],
  ])
})

test('texts within the attributes of a company are trimmed or null, too', async (t) => {
  const said = '{"city":" Bonn ","zip":"n/a","lines":[{"a":" x"},"n/a"]}'
  const row = `{"jurisdiction":"DE","identifier":"1","address":${said}}`
  const { db, load } = folderWith(t, { 'a.ndjson': `${row}\n` })
  await load('companies', ['a.ndjson'], { texts: { nulls: ['n/a'], isTrimmed: true } })
  const kept = (await readSaid(db))[0]?.attributes
  assert.equal(kept, '{"address":{"city":"Bonn","zip":null,"lines":[{"a":"x"},null]}}')
})

describe('mapped JSON', () => {
  const mapping = "select n as id, 7 as company_id, concat(name, '') as name from source"

  test('has its numbers with all of their digits', async (t) => {
    const numbers = ['99999999999999.99', '12345678901234567890.123456789', '1e400', '-0.5']
    const rows = numbers.map((number, n) => `{"n":${n + 1},"name":${number}}\n`)
    const { load, records } = folderWith(t, { 'a.ndjson': rows.join('') })
    await load('rights', ['a.ndjson'], { mapping })
    assert.deepEqual(names(records('rights')), numbers)
  })

  const sound = (n: number) => `{"n":${n},"name":"x"}`
  const faulty: readonly (readonly [text: string, field: string | undefined, reason: RegExp])[] = [
    ['{"n":2,"name":"y"', undefined, /^is not valid JSON/],
    ['{"n":2}{"n":3}', undefined, /^is not valid JSON/],
    [`{"n":2,"name":"${'x'.repeat(20)}","y":NaN}`, undefined, /JSON \(Unexpected token 'N'\)$/],
    ['{"n":2,"name":1.0.0e5}', undefined, /^is not valid JSON/],
    ['17', undefined, /^must be a JSON object$/],
    ['{"n":2,"n":3}', 'n', /^occurs twice in the JSON object$/],
    ['{"n":2,"name":"\\ud83d"}', 'name', /^contains an unpaired surrogate$/],
    [`{"n":2,"name":"${'x'.repeat(8 << 20)}"}`, undefined, /^is longer than 8 MiB$/],
  ]
  const inFiles: Readonly<Record<string, (rows: readonly string[]) => string>> = {
    'a.ndjson': (rows) => rows.join('\n\n'),
    'a.json': (rows) => `[${rows.join(',\n')}]`,
  }
  for (const [name, write] of Object.entries(inFiles)) {
    test(`${name}: a faulty row is refused, and the others are read with their numbers`, async (t) => {
      for (const [text, field, reason] of faulty) {
        // An array whose element has two values, or is cut, is none.
        if (name === 'a.json' && /not valid/.test(reason.source)) continue
        const rows = [sound(1), text, sound(4), '{"n":"x"}', sound(5)]
        const { load, records } = folderWith(t, { [name]: write(rows) })
        const { problems } = await load('rights', [name], {
          mapping: 'select n as id, 7 as company_id, name, source_row, source_file from source',
          onRejected: () => undefined,
        })
        const places = problems.map((problem) => [problem.number, problem.field])
        assert.deepEqual(places, [
          [2, field],
          [4, 'id'],
        ])
        assert.match(problems[0]?.reason ?? '', reason)
        const ids = records('rights').map(({ id }) => id)
        assert.deepEqual(ids, [1, 4, 5])
      }
    })
  }

  test('may have no valid row', async (t) => {
    const { load } = folderWith(t, { 'a.ndjson': '17\n18\n' })
    const { counts } = await load('rights', ['a.ndjson'], { mapping, onRejected: () => undefined })
    assert.deepEqual([counts.read, counts.refused], [2, 2])
  })
})
