// Values at the limits of what is accepted, and how they are stored.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { importInto, importRows, makeFolder, query } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { storeDigest } from '../support/store-state.ts'

const emptyDb = (t: TestContext) => join(makeFolder(t), 'test.db')

/** Imports a field of records as JSON; returns each stored value or the reason of refusal. */
async function store(
  db: string,
  target: string,
  field: string,
  values: readonly string[],
): Promise<unknown[]> {
  const path = `${db}.value.ndjson`
  const given = target === 'events' ? { date: '"2020-01-01"', attr: '"a"' } : {}
  const lines = values.map((json, n) => {
    const members = Object.entries({ id: n + 1, company_id: 7, ...given, [field]: json })
    return `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}\n`
  })
  writeFileSync(path, lines.join(''))
  const { problems } = await importInto(db, target, [path], { onRejected: () => undefined })
  const reasons = new Map(problems.map(({ number, reason }) => [number, reason]))
  assert.ok(problems.every((problem) => problem.field === field))
  const rows = query(db, `select id, record from ${target}_records`)
  const stored = new Map(rows.map(({ id, record }) => [Number(id), String(record)]))
  return values.map((_, n) => {
    const reason = reasons.get(n + 1)
    assert.equal(stored.has(n + 1), reason === undefined, 'it is stored, or refused')
    if (reason !== undefined) return new Error(reason)
    return (JSON.parse(stored.get(n + 1) ?? '') as Record<string, unknown>)[field]
  })
}

type Becomes = string | number | null | readonly string[] | RegExp

/** A value as JSON, and its wire form or the reason of refusal. */
const values: Readonly<Record<string, readonly (readonly [json: string, becomes: Becomes])[]>> = {
  'jobs.salary_from': [
    ['0', 0],
    ['-0', 0],
    ['"-0"', 0],
    ['15.0', 15],
    ['1e3', 1000],
    ['"0015"', 15],
    ['"-15"', -15],
    ['9007199254740991', 9_007_199_254_740_991],
    ['"9007199254740991"', 9_007_199_254_740_991],
    ['"-9007199254740991"', -9_007_199_254_740_991],
    ['""', null],
    ['" \\t"', null],
    ['null', null],
    ['15.45', /integer/],
    ['"15.0"', /integer/],
    ['"15,000"', /integer/],
    ['"+15"', /integer/],
    ['" 15"', /integer/],
    ['"0x10"', /integer/],
    ['"１５"', /integer/],
    ['9007199254740992', /beyond 2\^53-1/],
    ['"-9007199254740992"', /beyond 2\^53-1/],
    ['"99999999999999999999"', /beyond 2\^53-1/],
    ['1e400', /beyond/],
    ['32000.00000000000000001', /integer/],
    ['32000.00000000000000000', 32000],
    ['true', /integer/],
    ['[15]', /integer/],
    ['{}', /integer/],
  ],
  'rights.name': [
    ['"as it is, \\u00a0 spaces too "', 'as it is, \u00a0 spaces too '],
    ['"e\\u0301"', 'e\u0301'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\u2028\\u0001\\u007f"', '\u2028\u0001\u007f'],
    ['"null"', 'null'],
    ['""', null],
    ['" \\u00a0\\u3000\\n"', null],
    ['"\\u0000"', /NUL/],
    ['"a\\ud83d"', /surrogate/],
    ['"\\ude00\\ud83d"', /surrogate/],
    ['12', /must be text/],
    ['false', /must be text/],
    ['["a"]', /must be text/],
    [`"${'x'.repeat(65_536)}"`, 'x'.repeat(65_536)],
    [`"${'é'.repeat(32_768)}"`, 'é'.repeat(32_768)],
    [`"${'x'.repeat(65_537)}"`, /65,536 bytes/],
    [`"${'😀'.repeat(16_384)}x"`, /65,536 bytes/],
  ],
  'rights.holders': [
    ['null', []],
    ['""', []],
    ['[]', []],
    ['["a","a"]', ['a', 'a']],
    ['["a",null," ","b"]', ['a', 'b']],
    ['"one holder"', ['one holder']],
    ['"[\\"a\\",\\"b\\"]"', ['a', 'b']],
    ['"[a"', /not a JSON array/],
    ['[1]', /must be text/],
    ['["\\ud800"]', /surrogate/],
    ['[["a"]]', /must be text/],
    ['{"a":1}', /list of texts/],
    [JSON.stringify(Array(1_000).fill('a')), Array<string>(1_000).fill('a')],
    [JSON.stringify(Array(1_001).fill('a')), /more than 1000/],
  ],
  'rights.created_at': [
    ['"2024-05-31"', '2024-05-31T00:00:00.000Z'],
    ['""', null],
    ['"2024-02-30"', /does not exist as a date/],
    ['20240531', /as text/],
  ],
  'events.date': [
    ['"2024-05-31T02:00+02:00"', '2024-05-31T00:00:00Z'],
    ['""', /is required/],
    ['null', /is required/],
  ],
  'events.attr': [
    ['" "', /is required/],
    ['"a"', 'a'],
  ],
}

for (const [place, cases] of Object.entries(values)) {
  const [target = '', field = ''] = place.split('.')
  test(`${place}: each value is converted as specified or refused (G13, G14, G15)`, async (t) => {
    const db = emptyDb(t)
    const all = await store(
      db,
      target,
      field,
      cases.map(([json]) => json),
    )
    for (const [n, [json, becomes]] of cases.entries()) {
      const stored = all[n]
      const shown = json.slice(0, 60)
      if (becomes instanceof RegExp) {
        assert.ok(stored instanceof Error, `${shown} became ${JSON.stringify(stored)}`)
        assert.match(stored.message, becomes, shown)
      } else if (stored instanceof Error) assert.fail(`${shown}: ${stored.message}`)
      else assert.deepEqual(stored, becomes, shown)
    }
  })
}

/** A row, or the line of one, that is refused, with field and reason. */
type RefusedRow = readonly [row: object | string, field: string | undefined, says: RegExp]

/** Checks that each row of an import is refused, for its own reason. */
async function checkRefused(db: string, target: string, rows: readonly RefusedRow[]) {
  const lines = rows.map(([row]) => (typeof row === 'string' ? row : JSON.stringify(row)))
  writeFileSync(`${db}.ndjson`, `${lines.join('\n')}\n`)
  const { problems, version } = await importInto(db, target, [`${db}.ndjson`])
  const found = problems.toSorted((a, b) => a.number - b.number)
  const numbers = found.map(({ number }) => number)
  const expected = rows.map((_, n) => n + 1)
  assert.deepEqual(numbers, expected)
  for (const [n, [, field, says]] of rows.entries()) {
    assert.equal(found[n]?.field, field, (lines[n] ?? '').slice(0, 60))
    assert.match(found[n]?.reason ?? '', says)
    assert.ok((found[n]?.value ?? '').length <= 81)
  }
  assert.equal(version, undefined, 'nothing is loaded')
}

/** Rows refused for an invalid record or company name. */
const unnamed: readonly RefusedRow[] = [
  [{ id: -1, company_id: 7 }, 'id', /1 or greater/],
  [{ id: 2 ** 53, company_id: 7 }, 'id', /2\^53-1 as an id; give it as key$/],
  [{ key: 'k'.repeat(1_025), company_id: 7 }, 'key', /1,024 bytes/],
  [{ key: ['k'], company_id: 7 }, 'key', /text/],
  [{ id: 1, company_id: 0 }, 'company_id', /1 or greater/],
  [{ id: 1, company_id: 'GB1' }, 'company_id', /integer/],
  [{ id: 1, company_identifier: '1' }, 'company_jurisdiction', /needs both jurisdiction and/],
  [{ id: 1, company_jurisdiction: 1, company_identifier: '1' }, 'company_jurisdiction', /text/],
  ['{"key":1234567890123456790,"company_id":7}', 'key', /beyond 2\^53-1.*; quote it$/],
  [
    { id: 1, company_jurisdiction: 'GB:X', company_identifier: '1' },
    'company_jurisdiction',
    /has a colon, which separates it from the number/,
  ],
  [{ id: 1 }, undefined, /names no company/],
  [{ id: 1, key: 'x', company_id: 7 }, 'key', /has both an id and a key/],
  [{ key: '', company_id: 7 }, 'key', /is blank; give each row a key, or leave the column out/],
  [{ key: null, company_id: 7 }, 'key', /is blank; give each row a key/],
  [{ id: 1, company_id: 7, Identifier: 1 }, 'Identifier', /did you mean company_identifier\?$/],
  ['{"__proto__":{"id":1}}', '__proto__', /not a known column/],
  [{ id: 1, company_id: 7, constructor: 'x' }, 'constructor', /not a known column/],
  ['{"id":1,"company_id":7', undefined, /not valid JSON/],
  ['[1]', undefined, /JSON object/],
  ['{"id":1,"company_id":7,"name":"a","name":"b"}', 'name', /occurs twice in the JSON object$/],
]

test('a row with an invalid record or company is refused, naming the column (G13, G14)', (t) =>
  checkRefused(emptyDb(t), 'rights', unnamed))

/** A list in a list, and so on. */
function nested(levels: number): unknown {
  return levels === 0 ? 'x' : [nested(levels - 1)]
}

const places = Array.from({ length: 9_000 }, (_, n) => `place ${n}`)

/** Rows of companies that are refused. */
const companies: readonly RefusedRow[] = [
  [{ identifier: '1' }, 'jurisdiction', /required/],
  [{ jurisdiction: 'GB', identifier: ' ' }, 'identifier', /required/],
  [{ jurisdiction: 'GB:X', identifier: '1' }, 'jurisdiction', /has a colon/],
  ['{"jurisdiction":"GB","identifier":"1","note":99999999999999.99}', 'note', /would be rounded/],
  ['{"jurisdiction":"GB","identifier":"1","note":[{"n":1e-400}]}', 'note', /would be rounded/],
  ['{"jurisdiction":"GB","identifier":"1","to":"1.5","no": 0.12345678901234567891}', 'no', /quote/],
  [{ jurisdiction: 'GB', identifier: 1 }, 'identifier', /text/],
  [{ jurisdiction: 'GB', identifier: '1', note: nested(33) }, 'note', /deeper than 32 levels/],
  // A change of it would have its elements as one text.
  [{ jurisdiction: 'GB', identifier: '1', note: places }, 'note', /65,536 bytes; shorten it in/],
  [{ jurisdiction: 'GB', identifier: 'x'.repeat(1_025) }, 'identifier', /1,024 bytes/],
  [{ jurisdiction: 'GB', identifier: '1', note: 'a\0b' }, 'note', /NUL/],
  [{ jurisdiction: 'GB', identifier: '1', note: { deep: ['\ud800'] } }, 'note', /surrogate/],
  [{ jurisdiction: 'GB', identifier: '1', '\ud800': 1 }, '\ud800', /surrogate/],
  [
    {
      jurisdiction: 'GB',
      identifier: '1',
      ...Object.fromEntries([...Array(1_001).keys()].entries()),
    },
    undefined,
    /more than 1000 attributes; remove those that are not needed$/,
  ],
  [{ jurisdiction: 'GB', Identifier: '1' }, 'identifier', /but the row has Identifier; names are/],
  [{ jurisdiction: 'GB', identifier: '1', 'to\0wn': 'x' }, 'to\0wn', /contains a NUL character$/],
  [{ jurisdiction: 'GB', identifier: '1', register_entry: 'x' }, 'register_entry', /is a reserved/],
  [{ jurisdiction: 'GB', identifier: '1', as_of: 'yesterday' }, 'as_of', /must be a date/],
  [
    '{"jurisdiction":"GB","identifier":"1","seat":{"town":"York","town":"Hull"}}',
    'town',
    /occurs twice in the JSON object$/,
  ],
]

test('an attribute without a name is refused: no change of it could be recorded', (t) =>
  checkRefused(emptyDb(t), 'companies', [
    [{ jurisdiction: 'GB', identifier: '1', '': 'x' }, '', /in a column without a name; name it$/],
    [{ jurisdiction: 'GB', identifier: '1', '\u00a0': 'x' }, '\u00a0', /without a name/],
  ]))

test('a company with an invalid identifier or attribute is refused', (t) =>
  checkRefused(emptyDb(t), 'companies', companies))

test('a number beyond 2^53-1 is refused in an attribute, however it is written', (t) => {
  const numbers = ['12345678901234567890', '1e20', '-9e21', '-9007199254740992.0', '{"n":[1e400]}']
  const rows = numbers.map((number): RefusedRow => {
    return [`{"jurisdiction":"GB","identifier":"1","note":${number}}`, 'note', /beyond 2\^53-1/]
  })
  return checkRefused(emptyDb(t), 'companies', rows)
})

test('an attribute may be nested as deep as documented', async (t) => {
  const row = { jurisdiction: 'GB', identifier: '1', note: nested(32) }
  assert.deepEqual((await importRows(emptyDb(t), 'companies', [row])).problems, [])
})

test('a number that a double has, however many of its digits are written, is kept', async (t) => {
  const db = emptyDb(t)
  const path = `${db}.numbers.ndjson`
  const numbers =
    '[0.1,0.10000000000000001,48.137154299999999,1e5,1.5E-7,-0.00,12.500000000000000000,' +
    '765422989273849.2]'
  writeFileSync(path, `{"jurisdiction":"GB","identifier":"1","at":${numbers}}\n`)
  assert.deepEqual((await importInto(db, 'companies', [path])).problems, [])
  const said = (await readSaid(db))[0]?.attributes
  assert.equal(said, '{"at":[0.1,0.1,48.1371543,100000,1.5e-7,0,12.5,765422989273849.2]}')
})

test('a whole number may be written as a decimal, with a mapping and without one', async (t) => {
  const path = `${emptyDb(t)}.numbers.ndjson`
  const rows = ['1e3', '-1.20E+2', '-0.0', '9007199254740991.0'].map(
    (number, n) => `{"id":${n + 1}.0,"company_id":1e0,"salary_from":${number}}\n`,
  )
  writeFileSync(path, rows.join(''))
  for (const mapping of [undefined, 'select * exclude (source_file, source_row) from source']) {
    const db = emptyDb(t)
    assert.deepEqual((await importInto(db, 'jobs', [path], { mapping })).problems, [])
    const found = query(db, 'select id, salary_from from jobs_view order by id')
    assert.deepEqual(
      found.map((one) => Object.values(one)),
      [1000, -120, 0, Number.MAX_SAFE_INTEGER].map((number, n) => [n + 1, number]),
    )
  }
})

test('a numeric natural key equals its digits as text', async (t) => {
  const db = emptyDb(t)
  await importRows(db, 'rights', [{ key: 12, company_id: 7 }])
  const { counts } = await importRows(db, 'rights', [{ key: '12', company_id: 7 }])
  assert.equal(counts.unchanged, 1)
})

test('every other column of a company is kept, whatever its name and value', async (t) => {
  const db = emptyDb(t)
  const row = JSON.parse(
    `{"jurisdiction":"GB","identifier":"1","b":1.5,"a":{"x":[null,true]},"é 😀":"","source":"s",
      "__proto__":"p","constructor":"c","none":null}`.replaceAll('\n', ''),
  ) as object
  assert.deepEqual((await importRows(db, 'companies', [row])).problems, [])
  assert.equal(
    (await readSaid(db))[0]?.attributes,
    '{"__proto__":"p","a":{"x":[null,true]},"b":1.5,"constructor":"c","source":"s"}',
  )
  const same = Object.fromEntries(Object.entries(row).reverse())
  assert.equal((await importRows(db, 'companies', [same])).counts.unchanged, 1, 'in any order')
})

test('without --rejects, an import with one refused row changes nothing and can be repeated once corrected', async (t) => {
  const db = emptyDb(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'a' }])
  const before = await storeDigest(db)
  const rows = [
    { id: 1, company_id: 7, name: 'b' },
    { id: 2, company_id: 8 },
    { id: 3, company_jurisdiction: 'GB', company_identifier: '1' },
    { key: 'k', company_id: 8 },
  ]
  const { counts, version } = await importRows(db, 'rights', [...rows, { id: 'x', company_id: 7 }])
  assert.deepEqual([version, counts.inserted, counts.updated, counts.refused], [undefined, 3, 1, 1])
  assert.equal(await storeDigest(db), before)
  assert.equal(query(db, 'select * from companies').length, 1)
  assert.equal(query(db, 'select * from record_keys').length, 0)
  assert.equal(query(db, 'select * from imports').length, 1)
  assert.equal((await importRows(db, 'rights', rows)).version, 2)
})

test('a refused row of a mapping is reported whole, however long the rows are', async (t) => {
  const mapping = `select * exclude (source_file, source_row),
    case identifier when '1' then 99999999999999.99::decimal(20, 2) end as amount from source`
  for (const length of [5, 5_000]) {
    const db = emptyDb(t)
    const rows = Array.from({ length: 2_100 }, (_, n) => `GB,${n},${'x'.repeat(length)}\n`)
    writeFileSync(`${db}.csv`, `jurisdiction,identifier,note\n${rows.join('')}`)
    const refused: unknown[] = []
    await importInto(db, 'companies', [`${db}.csv`], {
      mapping,
      onRejected: ({ row }) => refused.push(JSON.stringify(row)),
    })
    const named = JSON.stringify({ jurisdiction: 'GB', identifier: '1', note: 'x'.repeat(length) })
    assert.deepEqual(refused, [`${named.slice(0, -1)},"amount":99999999999999.99}`])
  }
})
