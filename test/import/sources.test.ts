// Files of every format and compression, valid and broken.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { OperatorError } from '../../src/config/operator-error.ts'
import { folderWith, refuseFile, toldAs, writeParquet } from '../support/import-folder.ts'
import { runDossier } from '../support/run-dossier.ts'

const line = (id: number) => `{"id":${id},"company_id":7,"name":"n${id}"}\n`
const gzipLine = (id: number) => gzipSync(line(id))
const zstdLine = (id: number) => zstdCompressSync(line(id))

describe('a file compressed in several parts is read to the end', () => {
  for (const [name, part] of Object.entries({
    'x.ndjson.gz': gzipLine,
    'x.ndjson.zst': zstdLine,
  })) {
    test(name, async (t) => {
      const { load } = folderWith(t, { [name]: Buffer.concat([part(1), part(2), part(3)]) })
      assert.equal((await load('rights', [name])).counts.inserted, 3)
    })

    test(`${name}: one wrong byte is an error or reaches the row checks (G11)`, async (t) => {
      const { folder, load } = folderWith(t, {})
      const whole = part(1)
      for (let at = 0; at < whole.length; at += 3) {
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] ?? 0) ^ 0x10
        writeFileSync(join(folder, name), bytes)
        const report = await load('rights', [name], { isDryRun: true }).catch((error: unknown) => {
          assert.ok(error instanceof OperatorError, String(error))
        })
        // A byte of the gzip header (time, system) says nothing about the content.
        if (report === undefined || (name.endsWith('gz') && at < 10)) continue
        // Zstandard has a checksum only if its writer asked for one; otherwise the checks apply.
        assert.ok(name.endsWith('zst'), `gzip's checksum tells byte ${at}`)
      }
    })

    test(`${name}: truncation anywhere but between two parts is an error`, async (t) => {
      const [first, second] = [part(1), part(2)]
      const whole = Buffer.concat([first, second])
      const { folder, load } = folderWith(t, {})
      const passed: number[] = []
      // Around the parts' first bytes, all of them; elsewhere every fifth.
      const near = (length: number) => length < 6 || Math.abs(length - first.length) < 6
      for (const length of [...whole.keys()].filter((n) => near(n) || n % 5 === 0)) {
        writeFileSync(join(folder, name), whole.subarray(0, length))
        const report = await load('rights', [name], { isDryRun: true }).catch((error: unknown) => {
          assert.ok(error instanceof OperatorError, String(error))
          assert.match(error.message, /ends too early: the (gzip|zstd) file is truncated|is empty/)
        })
        // Up to three bytes of the magic number of zstd are text, whose only row is refused.
        if (report !== undefined && report.counts.refused === 0) passed.push(length)
      }
      // At the start of a second part, zstd ignores up to three bytes of its magic number.
      const between = name.endsWith('zst') ? [0, 1, 2, 3] : [0]
      assert.deepEqual(
        passed,
        between.map((bytes) => first.length + bytes),
        'read without an error at these lengths',
      )
    })

    test(`${name}: trailing data that is not a part is an error`, async (t) => {
      const bytes = Buffer.concat([part(1), Buffer.from('{"id":2,"company_id":7}\n')])
      const { load } = folderWith(t, { [name]: bytes })
      await assert.rejects(load('rights', [name]), /not a valid (gzip|zstd) file|ends too early/)
    })
  }
})

describe('compressed files for DuckDB', () => {
  test('gzip with padding is refused with the command that decompresses it', (t) => {
    const bytes = Buffer.concat([gzipSync('{"id":1,"company_id":7}\n'), Buffer.alloc(512)])
    return refuseFile(t, 'x.ndjson.gz', [bytes, /padding, decompress it first: gunzip -c .*\.gz$/])
  })

  for (const [name, pack] of Object.entries({ gz: gzipSync, zst: zstdCompressSync })) {
    test(`.json.${name}, .tsv.${name} and .parquet.${name} are decompressed first`, async (t) => {
      const { folder, load } = folderWith(t, {
        [`a.json.${name}`]: pack('[{"id":1,"company_id":7}]'),
        [`a.tsv.${name}`]: pack('id\tcompany_id\n2\t7\n'),
      })
      const plain = join(folder, 'plain.parquet')
      await writeParquet(plain, 'select 3 as id, 7 as company_id')
      writeFileSync(join(folder, `a.parquet.${name}`), pack(readFileSync(plain)))
      for (const kind of ['json', 'tsv', 'parquet']) {
        const report = await load('rights', [`a.${kind}.${name}`])
        assert.equal(report.counts.inserted, 1, kind)
        assert.equal(report.files.length, 1)
      }
    })
  }

  test('files of several formats are one import, and a row is reported with its file', async (t) => {
    const { folder, load } = folderWith(t, {
      'a.csv': 'id,company_id,salary_from\n1,7,5\n2,7,x\n',
      'b.ndjson': '{"id":3,"company_id":7}\n{"id":4,"company_id":7,"salary_from":"y"}\n',
    })
    await writeParquet(
      join(folder, 'c.parquet'),
      `select 5 as id, 7 as company_id, 1.5 as salary_to`,
    )
    const names = ['a.csv', 'b.ndjson', 'c.parquet']
    const report = await load('jobs', names, { onRejected: () => undefined })
    assert.equal(report.counts.inserted, 2)
    assert.deepEqual(
      report.problems.map(({ file, number, field, value }) => [file, number, field, value]),
      [
        [join(folder, 'a.csv'), 2, 'salary_from', '"x"'],
        [join(folder, 'b.ndjson'), 2, 'salary_from', '"y"'],
        [join(folder, 'c.parquet'), 1, 'salary_to', '1.5'],
      ],
    )
  })
})

/** A folder with the result of a SELECT in `x.parquet`. */
async function parquetOf(t: TestContext, select: string) {
  const made = folderWith(t, {})
  const path = join(made.folder, 'x.parquet')
  await writeParquet(path, select)
  return { ...made, path }
}

describe('Parquet', () => {
  test('keeps its types: numbers, dates, timestamps and lists', async (t) => {
    const { load, records } = await parquetOf(
      t,
      `select 1::bigint as id, 7::hugeint as company_id, 'x' as name,
        date '2024-05-31' as registration_date, timestamp '0099-01-02 03:04:05' as application_date,
        ['a', null, ' ', 'b'] as holders,
        timestamptz '2024-05-31 12:00:00.123456+02' as created_at,
        timestamp_ns '2024-05-31 12:00:00.123456789' as updated_at`,
    )
    assert.deepEqual((await load('rights', ['x.parquet'])).problems, [])
    assert.deepEqual(records('rights'), [
      {
        id: 1,
        jurisdiction: null,
        name: 'x',
        object_type: null,
        status: null,
        registration_number: null,
        registration_date: '2024-05-31T00:00:00Z',
        application_date: '0099-01-02T03:04:05Z',
        holders: ['a', 'b'],
        created_at: '2024-05-31T10:00:00.123Z',
        updated_at: '2024-05-31T12:00:00.123Z',
      },
    ])
  })

  for (const mapping of [undefined, 'select id, company_id, name from source']) {
    const way = mapping === undefined ? '' : ', mapped'
    test(`texts that programs write as bytes are texts${way}`, async (t) => {
      const select = "select 1 as id, 7 as company_id, encode('Müller') as name"
      const { load, records } = await parquetOf(t, select)
      await load('rights', ['x.parquet'], { mapping })
      const [{ name } = {}] = records('rights')
      assert.equal(name, 'Müller')
    })
  }

  test('a float of four bytes has the digits that other programs show', async (t) => {
    const { load } = await parquetOf(t, 'select 1 as id, 7 as company_id, 0.1::float as salary_to')
    for (const mapping of [undefined, 'select * from source']) {
      const { problems } = await load('jobs', ['x.parquet'], { mapping })
      assert.deepEqual([problems.length, problems[0]?.value], [1, '0.1'])
    }
  })

  test('bytes that are not text are refused', async (t) => {
    const select = "select 1 as id, 7 as company_id, '\\xFF'::blob as name"
    const { load } = await parquetOf(t, select)
    await assert.rejects(
      load('rights', ['x.parquet']),
      toldAs(/x\.parquet has bytes that are not UTF-8; a mapping \(--map\) can leave their col/),
    )
    await assert.rejects(
      load('rights', ['x.parquet'], { mapping: 'select * from source' }),
      toldAs(/^the mapping returns bytes that are not UTF-8; hex\(\) makes text of them$/),
    )
    const mapping = 'select id, company_id, hex(name) as name from source'
    assert.deepEqual((await load('rights', ['x.parquet'], { mapping })).problems, [])
  })

  test('an error names a file as it is called', async (t) => {
    const { path, load, folder } = await parquetOf(t, 'select 1 as id')
    const name = 'x$&$$.parquet'
    writeFileSync(join(folder, name), readFileSync(path).subarray(0, 60))
    await assert.rejects(load('rights', [name]), toldAs(/at end of file '\S+\/x\$&\$\$\.parquet'$/))
  })

  test('moments are read alike in every zone', async (t) => {
    const select = "select timestamptz '1890-01-01 00:00:00+00' as a"
    const { folder, path } = await parquetOf(t, select)
    // A process keeps the zone that it had at first.
    const args = ['import', 'companies', path, '--show', '1']
    const { out, err } = await runDossier(folder, args, { env: { TZ: 'Europe/Berlin' } })
    assert.match(out, /"1890-01-01 00:00:00\+00"/, err)
  })

  test('a column that would hide rows is refused', async (t) => {
    const select = `select range + 1 as id, 7 as company_id, 10 * range as File_Row_Number,
      repeat(chr((97 + range % 26)::int), 20000) as name from range(300)`
    const { load } = await parquetOf(t, select)
    const mapping = 'select id, company_id, name from source'
    await assert.rejects(
      load('rights', ['x.parquet'], { mapping }),
      toldAs(
        /x\.parquet cannot be read: .* file with column named file_row_number is not supported/,
      ),
    )
  })

  test('two columns whose names differ only in case are refused', async (t) => {
    const select = `select 1 as id, 7 as company_id, {'name': 'a'} as holders, 'x' as name, 'y' as nama`
    const { path, load } = await parquetOf(t, select)
    await assert.doesNotReject(
      load('rights', ['x.parquet'], { mapping: 'select id, company_id from source' }),
    )
    const bytes = readFileSync(path, 'latin1').replaceAll('nama', 'NAME')
    writeFileSync(path, bytes, 'latin1')
    for (const mapping of [undefined, 'select id, company_id, name from source']) {
      const says = toldAs(/x\.parquet: the columns name and NAME differ only in case; rename/)
      await assert.rejects(load('rights', ['x.parquet'], { mapping }), says)
    }
  })

  test('a decimal of more than 38 digits is refused', async (t) => {
    const select = "select 1 as id, 7 as company_id, '1.5'::decimal(38, 37) as name"
    const { path, load } = await parquetOf(t, select)
    // The digits are the number after the scale, in the schema and in its logical type.
    const hex = readFileSync(path).toString('hex').replaceAll('154a154c', '154a154e')
    writeFileSync(path, Buffer.from(hex, 'hex'))
    const says = toldAs(/x\.parquet: the column name has decimals of more than 38 digits/)
    await assert.rejects(load('rights', ['x.parquet']), says)
  })

  /** SQL values of `salary_from`, and the imported values or reasons. */
  const numbers: readonly (readonly [sql: string, becomes: number | RegExp])[] = [
    ['15.00::decimal(9, 2)', 15],
    ['15::double', 15],
    ['-0.0::double', 0],
    ['9007199254740991', 9_007_199_254_740_991],
    ['-9007199254740991', -9_007_199_254_740_991],
    ['9007199254740992', /beyond 2\^53-1/],
    ['9007199254740993::ubigint', /beyond 2\^53-1/],
    ['170141183460469231731687303715884105727::hugeint', /beyond 2\^53-1/],
    ['15.45::double', /integer/],
    ['15.45::decimal(9, 2)', /integer/],
    ['15.00000000000000000001::decimal(38, 20)', /integer/],
    ["'nan'::double", /integer/],
    ["'-infinity'::double", /integer/],
    ['true', /integer/],
    ['[1]', /integer/],
  ]
  test('numbers are integers within 2^53-1, whatever their type, or refused', async (t) => {
    const { folder, load, records } = folderWith(t, {})
    const files = numbers.map((_, n) => `${n + 1}.parquet`)
    for (const [n, [sql]] of numbers.entries()) {
      const select = `select ${n + 1} as id, 7 as company_id, ${sql} as salary_from`
      await writeParquet(join(folder, `${n + 1}.parquet`), select)
    }
    const { problems } = await load('jobs', files, { onRejected: () => undefined })
    const reasons = new Map(problems.map(({ file, reason }) => [file, reason]))
    const salaries = new Map(records('jobs').map((job) => [job['id'], job['salary_from']]))
    for (const [n, [sql, becomes]] of numbers.entries()) {
      const reason = reasons.get(join(folder, `${n + 1}.parquet`))
      if (becomes instanceof RegExp) assert.match(reason ?? '', becomes, sql)
      else assert.deepEqual([reason, salaries.get(n + 1)], [undefined, becomes], sql)
    }
  })
})

describe('CSV', () => {
  test('text is never interpreted: zeros, quotes, signs and words are kept', async (t) => {
    const texts = '007 1e5 NULL true - " \' #1 \\N NaN 2024-05-31 é'.split(' ')
    const rows = texts.map((text, n) => `${n + 1},7,"${text.replaceAll('"', '""')}"\n`)
    const { load, records } = folderWith(t, { 'x.csv': `id,company_id,name\n${rows.join('')}` })
    assert.deepEqual((await load('rights', ['x.csv'])).problems, [])
    const names = records('rights').map(({ name }) => name)
    assert.deepEqual(names, texts)
  })

  test('an error deep in a long file is reported too', async (t) => {
    const good = Array.from({ length: 9_000 }, (_, n) => `${n + 1},7,name\n`).join('')
    const { load } = folderWith(t, { 'x.csv': `id,company_id,name\n${good}9001,7\n` })
    const { version, problems } = await load('rights', ['x.csv'])
    assert.equal(version, undefined)
    assert.match(JSON.stringify(problems), /9002/)
  })

  test('a mapping error deep in a long file is reported too', async (t) => {
    const good = Array.from({ length: 25_000 }, (_, n) => `${n + 1},7\n`).join('')
    const { load } = folderWith(t, { 'x.csv': `id,company_id\n${good}x,7\n` })
    const mapping = 'select id::bigint as id, company_id from source'
    const says = /Could not convert string .x. to INT64/
    await assert.rejects(load('rights', ['x.csv'], { mapping }), says)
  })
})

describe('a mapping', () => {
  /** Statements that all return the same record. */
  const sound: readonly string[] = [
    'select id, company_id, name from source',
    'select id, company_id, name from source;',
    'select id, company_id, name from source -- the end',
    'select id, company_id, name from source; -- the end\n\n',
    'select id, company_id, name from source; /* the end */',
    '-- the start\nwith s as (select * from source) select id, company_id, name from s',
    "select id, company_id, name from source where name <> '--'",
    'select id, company_id, name from source where name <> $$;--$$ ;',
    "select id, company_id, name from source where name <> ';'",
    'from source select id, company_id, name',
  ]
  test('is one SELECT, with or without an end and comments', async (t) => {
    const { load } = folderWith(t, { 'x.ndjson': line(1) })
    for (const mapping of sound) {
      const { counts, problems } = await load('rights', ['x.ndjson'], { mapping, isDryRun: true })
      assert.deepEqual([counts.inserted, problems], [1, []], mapping)
    }
  })

  /** Invalid statements and their messages. */
  const unsound: Readonly<Record<string, RegExp>> = {
    'select id, company_id, 1 as naem from source':
      /naem \(did you mean name\?\) is not a known column/,
    '': /^the mapping has no SELECT$/,
    '-- nothing yet': /^the mapping has no SELECT$/,
  }
  test('is reported in one line if it is invalid', async (t) => {
    const { load } = folderWith(t, { 'x.ndjson': line(1) })
    for (const [mapping, says] of Object.entries(unsound)) {
      await assert.rejects(load('rights', ['x.ndjson'], { mapping }), toldAs(says))
    }
  })

  test('gets every column of CSV and JSON as text, nested values as JSON', async (t) => {
    const { load, records } = folderWith(t, {
      'x.json': '[{"n":1,"t":"007","o":{"a":[1]}},{"n":2.5,"t":null}]',
    })
    await load('rights', ['x.json'], {
      mapping: `select row_number() over () as id, 7 as company_id, n as name, t as status,
        o as object_type from source`,
    })
    assert.deepEqual(
      records('rights').map((row) => [row['name'], row['status'], row['object_type']]),
      [
        ['1', '007', '{"a":[1]}'],
        ['2.5', null, null],
      ],
    )
  })

  test('gets null for a member that a row lacks, an empty text, and numbers as written', async (t) => {
    const { load, records } = folderWith(t, {
      'x.ndjson': [
        '{"id":1,"name":""}',
        '{"constructor":1e3,"id":2,"toString":{"n":[0.12345678901234567890,1.50]}}',
        '{"id":3,"name":"3","z":0.12345678901234567890}',
      ].join('\n'),
    })
    await load('rights', ['x.ndjson'], {
      mapping: `select id, 7 as company_id, coalesce(name || '.', 'none') as name,
        "constructor" as status, "toString" as object_type, z as registration_number from source`,
    })
    const seen = ['name', 'status', 'object_type', 'registration_number']
    assert.deepEqual(
      records('rights').map((row) => seen.map((name) => row[name])),
      [
        ['.', null, null, null],
        ['none', '1000', '{"n":["0.12345678901234567890",1.5]}', null],
        ['3.', null, null, '0.12345678901234567890'],
      ],
    )
  })

  test('knows a member whose name begins with a byte order mark', async (t) => {
    const { load } = folderWith(t, { 'x.ndjson': '{"\uFEFFid":1,"company_id":7}\n' })
    const mapping = 'select "\uFEFFid" as id, company_id from source'
    assert.equal((await load('rights', ['x.ndjson'], { mapping })).counts.inserted, 1)
  })

  test('reads a JSON array of more than 16 MiB on one line', async (t) => {
    const rows = Array.from({ length: 18 }, (_, n) => ({ id: n + 1, x: 'x'.repeat(1 << 20) }))
    const { load } = folderWith(t, { 'x.json': JSON.stringify(rows) })
    const mapping = 'select id, 7 as company_id from source'
    assert.equal((await load('rights', ['x.json'], { mapping })).counts.inserted, 18)
  })

  test('takes nothing from JSON without rows, and the rows of the other files', async (t) => {
    const { load } = folderWith(t, { 'a.json': ' [ ]', 'b.ndjson': '\n', 'c.ndjson': line(1) })
    const mapping = 'select id, 7 as company_id from source'
    const { counts } = await load('rights', ['a.json', 'c.ndjson', 'b.ndjson'], { mapping })
    assert.equal(counts.inserted, 1)
    const files = ['a.json', 'b.ndjson']
    const refused = load('rights', files, { mapping, permissions: {} })
    await assert.rejects(refused, toldAs(/no rows.*--allow-empty$/))
    assert.equal((await load('rights', files, { mapping })).counts.read, 0)
  })
})

test('a line ends where a chunk begins, after skipped lines and a blank one', async (t) => {
  const title = 'title'.padEnd((256 << 10) - '1,7,one'.length, '\r')
  const { load, records } = folderWith(t, { 'a.csv': `${title}1,7,one\n2,7,two\n` })
  await load('rights', ['a.csv'], {
    file: { columns: ['id', 'company_id', 'name'], skippedLines: 1 },
  })
  const names = records('rights').map(({ name }) => name)
  assert.deepEqual(names, ['one', 'two'])
})
