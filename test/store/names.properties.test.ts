// The words of names (contract 8.3): kept by every import and revert, and found by every query.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasWords, wordsOfName, wordsOfQuery } from '../../src/store/companies/name-words.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { openReader, withReader } from '../support/open-reader.ts'
import { runsOf } from '../support/store-at.ts'
import { checkSound, makeSoundStore } from '../support/verify-store.ts'
import { one, remove, revert } from '../support/write-store.ts'

/** Few words of many scripts, so that names share them. */
const word = fc.oneof(
  fc.constantFrom('Northwind', 'NORTH', 'Trading', 'İstanbul', 'Işık', 'Straße', 'Łódź', 'Đồng'),
  fc.constantFrom('삼성전자', '三井物産', 'Ёлка', 'οδός', 'ﬁne', 'é', '№5', 'a', 'ab', '🙂'),
  fc
    .string({ unit: 'binary', maxLength: 6 })
    .map((text) => text.replaceAll('\0', '').toWellFormed()),
)
const nameOrNone = fc.option(
  fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
  { freq: 6 },
)
/** An import: of one of two sources, with the names of some companies, or a snapshot of them. */
const step = fc.record({
  source: fc.constantFrom('a', 'b'),
  isSnapshot: fc.boolean(),
  attribute: fc.constantFrom('name', 'title'),
  names: fc.array(fc.tuple(fc.nat(9), nameOrNone), { minLength: 1, maxLength: 8 }),
})

test('after any imports and reverts, every query finds what the names say (8.2, 8.3)', async (t) => {
  const folder = makeFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), word, async (steps, asked) => {
      const db = join(folder, `${(runs += 1)}.db`)
      for (const { source, isSnapshot, attribute, names } of steps) {
        const rows = [...new Map(names)].map(([n, name]) => ({
          jurisdiction: 'GB',
          identifier: String(n),
          [attribute]: name,
          other: 'x',
        }))
        const isNamed = [...new Map(names)].some(([, name]) => name !== null && name.trim() !== '')
        await importRows(db, 'companies', rows, {
          source,
          isSnapshot,
          onRejected: () => undefined,
          nameAttribute: isNamed ? attribute : undefined,
        })
        await checkNames(db, asked)
      }
      const { length: last } = query(db, 'select version from imports')
      for (const range of [{ to: last - 1 }, { to: last }, { to: 0 }]) {
        await revert(db, range)
        await checkNames(db, asked)
      }
    }),
    { numRuns: runsOf(30) },
  )
})

test('a name comes from the source that gave it last, even if that lacks the company now (8.3)', async (t) => {
  const db = makeSoundStore(t)
  const load = (source: string, told: Readonly<Record<string, object>>, nameAttribute?: string) => {
    const rows = Object.entries(told).map(([identifier, said]) => {
      return { jurisdiction: 'GB', identifier, note: 'x', ...said }
    })
    return importRows(db, 'companies', rows, { source, isSnapshot: true, nameAttribute })
  }
  const a = { name: 'A' }
  const both = { name: 'C', title: 'B' }
  await load('one', { alone: a, gone: a, untitled: { title: 'A' }, two: a, left: a, silent: a })
  await load('two', { two: both, left: both, silent: {} }, 'title')
  // The second source does not have one of them any more, nor the first one two.
  await load('two', { two: both, silent: {} }, 'title')
  await load('one', { alone: a, untitled: { title: 'A' }, two: a, left: a })
  const sql =
    'select c.identifier as of, n.name from companies c join names n on n.company_id = c.id'
  const named = () => Object.fromEntries(query(db, sql).map(({ of, name }) => [String(of), name]))
  const last = { alone: 'A', gone: 'A', two: 'B', left: 'B', silent: 'A' }
  assert.deepEqual(named(), last)
  // What is taken back says nothing anew.
  await load('one', { two: { name: 'D' }, left: { name: 'D' } })
  assert.deepEqual(named(), { ...last, two: 'D', left: 'D' })
  await revert(db, one(5))
  assert.deepEqual(named(), last)
  await remove(db, 'companies', 'two')
  assert.deepEqual(named(), { ...last, two: 'A' })
})

test('a name matches a query by its own words, however it is read', () => {
  const part = fc.oneof(word, fc.constantFrom('a', 'A1', 'ab', 'b', 'x'.repeat(41), '-', '. ', '/'))
  const text = fc
    .array(part, { minLength: 1, maxLength: 90 })
    .chain((parts) => fc.constantFrom('', ' ').map((between) => parts.join(between)))
  const odd = fc.string({ unit: 'binary', maxLength: 60 }).map((name) => name.toWellFormed())
  const plain = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '9', ' ') })
  const saysSo = (name: string, words: readonly string[]) => {
    const own = wordsOfName(name)
    const isThere = words.slice(0, -1).every((one) => own.includes(one))
    return isThere && own.some((one) => one.startsWith(words.at(-1) ?? ''))
  }
  fc.assert(
    fc.property(
      fc.oneof(text, odd, plain),
      fc.oneof(text, plain),
      fc.nat(20),
      (name, asked, length) => {
        for (const query of [asked, asked.slice(0, length), name.slice(0, length), name]) {
          const words = wordsOfQuery(query)
          if (words.length > 0) assert.equal(hasWords(name, words), saysSo(name, words))
        }
        const own = wordsOfQuery(name)
        assert.ok(own.length === 0 || hasWords(name, own), JSON.stringify(name))
      },
    ),
    { numRuns: 600 },
  )
})

/** Checks the index against the names, and a query against a search through all of them. */
async function checkNames(db: string, asked: string): Promise<void> {
  await checkSound(db)
  const names = query(db, 'select company_id, name from names')
  await withReader(db, async (reader) => {
    for (const text of [asked, 'north', 'a', `${asked} a`, String(names[0]?.['name'] ?? 'x')]) {
      const words = wordsOfQuery(text)
      if (words.length === 0) continue
      const { companies } = await reader.findCompanies({ words })
      const expected = names
        .filter(({ name }) => hasWords(String(name), words))
        .map(({ company_id: id, name }) => ({ id, length: Array.from(String(name)).length }))
        .sort((a, b) => a.length - b.length || Number(a.id) - Number(b.id))
      const found = companies?.map(({ id }) => id)
      const ids = expected.map(({ id }) => Number(id))
      assert.deepEqual(found, ids, text)
    }
  })
}

test('frequent words are found together, in any order of their frequency (8.2)', async (t) => {
  const db = makeSoundStore(t)
  // Every second name has "even", every third "third"; one word of each is its own.
  const rows = Array.from({ length: 21_000 }, (_, n) => ({
    jurisdiction: 'GB',
    identifier: String(n),
    name: `${n % 2 === 0 ? 'even' : 'odd'} ${n % 3 === 0 ? 'third' : 'rest'} x${n} ${n % 11 === 0 ? 'eleventh' : ''}`,
  }))
  // In two imports, so that the second adds companies to words.
  await importRows(db, 'companies', rows.slice(0, 2_500))
  await importRows(db, 'companies', rows.slice(2_500))
  const reader = await openReader(t, db)
  const queries: readonly (readonly [string, (n: number) => boolean])[] = [
    ['even third eleventh', (n) => n % 66 === 0],
    ['third eleventh', (n) => n % 33 === 0],
    ['eleventh eve', (n) => n % 22 === 0],
    ['odd eleventh x89', (n) => n % 22 === 11 && String(n).startsWith('89')],
    ['even x', (n) => n % 2 === 0],
    ['odd third eleventh x', (n) => n % 66 === 33],
    ['even odd', () => false],
    ['even odd x', () => false],
    ['x123', (n) => String(n).startsWith('123')],
    ['x', () => true],
    ['even', (n) => n % 2 === 0],
    ['none even', () => false],
  ]
  for (const [text, isMeant] of queries) {
    const { companies } = await reader.findCompanies({ words: wordsOfQuery(text) })
    const expected = rows.filter((_, n) => isMeant(n)).map(({ identifier }) => identifier)
    if (expected.length > 1_000) assert.equal(companies, undefined, text)
    else {
      const found = companies?.map(({ identifier }) => identifier).toSorted()
      assert.deepEqual(found, expected.toSorted(), text)
    }
  }
})

test('a name is folded: compatible letters, without marks, in lower case (8.3)', () => {
  const folded: readonly (readonly [name: string, ...words: string[]])[] = [
    ['İSTANBUL Işık A.Ş.', 'istanbul', 'isik', 'a', 's'],
    ['Straße STRASSE STRAẞE', 'strasse'],
    ['Công ty Đồng Á', 'cong', 'ty', 'dong', 'a'],
    ['Ёлка & Ко', 'елка', 'ко'],
    ['ΟΔΟΣ οδός', 'οδοσ'],
    ['Ｆｕｌｌ ﬁt ½', 'full', 'fit', '1', '2'],
    ['Ærø-Łódź', 'aero', 'lodz'],
    ['三井', '三', '井', '三井'],
    ['삼성 ab', '삼', '성', '삼성', 'ab'],
    ['e\u0301te\u0301', 'ete'],
    // The turned comma of Uzbek and Hawaiian, and the tatweel of Arabic, are letters to Unicode.
    ['O\u02bbzbekiston', 'o\u02bbzbekiston'],
    ['محـمد', 'محـمد'],
    ['…', ...[]],
  ]
  for (const [name, ...words] of folded) assert.deepEqual(wordsOfName(name), words, name)
  assert.deepEqual(wordsOfQuery('三井物産 a'), ['三井', '井物', '物産', 'a'])
  assert.ok(hasWords('삼성전자 주식회사', wordsOfQuery('전자')))
  assert.ok(hasWords('Northwind Trading', wordsOfQuery('trading nor')))
  assert.ok(!hasWords('Northwind Trading', wordsOfQuery('nor trading')))
  assert.ok(hasWords('Baden-Baden', wordsOfQuery('baden-baden')))
  assert.ok(!hasWords('Badenia', wordsOfQuery('baden-baden')))
})

test('a name is found with any apostrophe, whichever it has (8.2)', async (t) => {
  const db = makeSoundStore(t)
  const apostrophes = ["'", '\u2019', '\u02bc']
  const rows = apostrophes.map((apostrophe, n) => ({
    jurisdiction: 'UA',
    identifier: String(n),
    name: `Об${apostrophe}єднання`,
  }))
  await importRows(db, 'companies', rows)
  const reader = await openReader(t, db)
  const numbers = rows.map(({ identifier }) => identifier)
  for (const apostrophe of apostrophes) {
    for (const text of [`об${apostrophe}єднання`, `Об${apostrophe}єд`, `об${apostrophe}`]) {
      const { companies } = await reader.findCompanies({ words: wordsOfQuery(text) })
      const found = companies?.map(({ identifier }) => identifier).toSorted()
      assert.deepEqual(found, numbers, text)
    }
  }
  assert.deepEqual(wordsOfQuery('\u02bc'), [])
})
