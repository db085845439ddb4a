// What is probably a mistake is refused before anything changes, in one line that names the option
// that says it is meant.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeFolder, writeRows } from '../support/import-rows.ts'
import { checkExit, type Run } from '../support/run-dossier.ts'
import { runCommand } from '../support/run-command.ts'
import { storeDigest } from '../support/store-state.ts'

/** Imports of rows of companies, unless another target is named, into one store. */
function begin(t: TestContext, target = 'companies') {
  const folder = makeFolder(t)
  const store = join(folder, 'dossier.db')
  let files = 0
  const runOf =
    (name: string) =>
    (rows: readonly object[], ...args: string[]) => {
      const file = `${(files += 1)}.ndjson`
      writeRows(join(folder, file), rows)
      return runCommand(folder, ['import', name, file, ...args])
    }
  /** An import that is refused in one line, and leaves the store as it was. */
  const refuse = async (attempt: () => Promise<Run>, says: RegExp) => {
    const before = await storeDigest(store)
    checkExit(await attempt(), 1, says)
    assert.equal(await storeDigest(store), before)
  }
  return { folder, runOf, run: runOf(target), refuse }
}

const companies = (count: number, town = 'Leeds') =>
  Array.from({ length: count }, (_, n) => ({ jurisdiction: 'GB', identifier: String(n + 1), town }))

async function load(run: Promise<Run>): Promise<void> {
  const { code, err } = await run
  assert.equal(code, 0, err)
}

test('an extract without a date is refused if the source had one; --no-history records nothing', async (t) => {
  const { folder, run, refuse } = begin(t)
  await load(run(companies(1), '--source', 'sec', '--as-of', '2025-02-27'))
  await refuse(
    () => run(companies(1, 'York'), '--source', 'sec'),
    /^dossier: sec was last imported as of 2025-02-27; give --as-of, or --no-history to .*\n$/,
  )
  // Another source never had a date.
  await load(run(companies(1), '--source', 'other'))
  await load(run(companies(1), '--source', 'other'))
  const { out } = await run(companies(1, 'York'), '--source', 'sec', '--no-history')
  assert.match(out, /updated +1\n/)
  assert.doesNotMatch(out, /recorded/)
  const said = await runCommand(folder, 'company GB:1')
  assert.match(said.out, /Attributes from sec, since version 4, /, 'nobody knows of a day')
})

test('records without a date are refused only if their history is recorded', async (t) => {
  const { run, refuse } = begin(t, 'employees')
  const rows = (name: string) => [{ id: 1, company_id: 7, name }]
  await load(run(rows('Ann'), '--as-of', '2025-02-27'))
  await load(run(rows('Bea')))
  await load(run(rows('Cid'), '--as-of', '2025-02-28', '--history'))
  const says =
    /^dossier: default was last .*-28; give --history --as-of DATE, or --no-history to .*\n$/
  await refuse(() => run(rows('Dan')), says)
  await load(run(rows('Dan'), '--no-history'))
  // That is how the source is imported from now on.
  await load(run(rows('Eve')))
})

test('a date beyond tomorrow is refused unless --future; so is a row of such a date', async (t) => {
  const { run, refuse } = begin(t)
  await load(run(companies(1)))
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const says = /^dossier: --as-of 2062-07-01 is in the future; if that is intended, add --future\n$/
  await refuse(() => run(companies(1), '--as-of', '2062-07-01'), says)
  const [company] = companies(1)
  await refuse(
    () => run([{ ...company, as_of: day(3) }]),
    /as_of: "20[^\n]*: is in the future; if that is intended, add --future/,
  )
  await load(run([{ ...company, as_of: day(1) }]))
  await load(run([{ ...company, as_of: day(3) }], '--future'))
  await load(run(companies(1), '--as-of', '2062-07-01', '--future'))
})

test('removing more than a fifth of a source is refused unless --accept', async (t) => {
  const { run, refuse } = begin(t)
  await load(run(companies(600)))
  await refuse(
    () => run(companies(479), '--snapshot'),
    /^479 read: [^]*^dossier: the import would remove 121 of the 600 .* add --accept\n$/m,
  )
  const dry = await run(companies(479), '--snapshot', '--accept', '--dry-run')
  assert.match(dry.out, /removed +121\n/)
  const [refused, tried] = await Promise.all(
    [[], ['--accept', '--dry-run']].map(async (more) => {
      const { out } = await run(companies(479), '--snapshot', '--json', ...more)
      return JSON.parse(out) as Record<string, unknown>
    }),
  )
  assert.deepEqual({ ...refused, elapsed_ms: 0, files: [] }, { ...tried, elapsed_ms: 0, files: [] })
  assert.deepEqual([refused?.['version'], refused?.['removed']], [null, 121])
  await load(run(companies(480), '--snapshot'))
  await load(run(companies(100), '--snapshot', '--accept'))
  await refuse(() => run(companies(79), '--snapshot'), /would remove 21 of the 100 /)
  await load(run(companies(16), '--snapshot', '--accept'))
  // Five are few.
  await load(run(companies(11), '--snapshot'))
  await refuse(() => run(companies(5), '--snapshot'), /would remove 6 of the 11 /)
})

test('rows that repeat others are unchanged, and do not make a source larger (G12)', async (t) => {
  const { run, refuse } = begin(t)
  const first = await run([...companies(20), ...companies(1)])
  assert.match(first.out, /unchanged +1\n/)
  assert.doesNotMatch(first.out, /come/, 'as of any first import')
  const twice = [...companies(10), ...companies(10), ...companies(10), ...companies(10)]
  const says = /the import would remove 10 of the 20 companies of the source/
  await refuse(() => run(twice, '--snapshot'), says)
  // Nor its strangers known.
  const others = companies(10).map((one) => ({ ...one, jurisdiction: 'IE' }))
  const known = /of these 10 companies, 0 are among the 20 of default; nothing /
  await refuse(() => run([...others, ...others]), known)
})

test('removing more than a hundredth of a source causes a warning that names what goes', async (t) => {
  const { run } = begin(t)
  await load(run(companies(200)))
  const { out, err } = await run(companies(197), '--snapshot')
  assert.match(err, /warning: the files lack 3 of the 200 companies of default \(1\.5 %\), to/)
  assert.match(out, /^ {2}3 companies removed: GB 198, GB 199, GB 200$/m)
  const two = await run(companies(196), '--snapshot')
  assert.equal(two.err, '')
})

test('records that move to other companies are removed from theirs, and erased ones are not counted', async (t) => {
  const { folder, run, refuse } = begin(t, 'employees')
  const rows = (moved: number) =>
    Array.from({ length: 40 }, (_, n) => {
      return { key: `E${n}`, identifier: String(n), company_id: n < moved ? 2 : 1 }
    })
  await load(run(rows(0), '--snapshot'))
  const moved = await run(rows(3), '--snapshot')
  assert.match(moved.out, /removed +3\n/)
  assert.match(moved.err, /the files lack, or have in other companies, 3 of the 40 employees/)
  const many = /would remove 17 of the 40 employees of the source, so nothing was changed/
  await refuse(() => run(rows(20), '--snapshot'), many)
  for (const identifier of [10, 11, 12]) {
    const order = `withhold erase employees identifier=${identifier} --reason law --by me --yes`
    await load(runCommand(folder, order))
  }
  const says = /would remove 10 of the 37 employees of the source, so/
  await refuse(() => run(rows(3).slice(0, 30), '--snapshot'), says)
})

test('changing four fifths of a source is refused, unless the last import did so', async (t) => {
  const { run, refuse } = begin(t)
  await load(run(companies(200)))
  const changed = (count: number) => [
    ...companies(count, 'York'),
    ...companies(200).slice(count),
    { jurisdiction: 'GB', identifier: 'new' },
  ]
  await refuse(
    () => run(changed(161)),
    /^dossier: the import would change 161 of the 200 companies of the source/m,
  )
  await load(run(changed(160), '--accept'))
  await load(run(companies(200, 'Hull'), '--accept'))
  await load(run(companies(200, 'Bath')))
})

test('changes in listings that no row names are counted, reported and refused', async (t) => {
  const { run, refuse } = begin(t, 'rights')
  const rows = (company: number, name: string) =>
    Array.from({ length: 6 }, (_, n) => ({ key: String(n), company_id: company, name }))
  await load(run(rows(1, 'Acme')))
  // Each company counts its rights from 1 on: the keys are those of other records.
  const says =
    /^6 read: 6 inserted, 6 updated, 0 unchanged, 0 removed\nname +6 changed +1: "Acme" → "Bolt"/
  await refuse(() => run(rows(2, 'Bolt')), says)
  await refuse(() => run(rows(2, 'Bolt')), /: the import would change 6 of the 6 rights /)
  const { out } = await run(rows(2, 'Bolt'), '--dry-run', '--accept')
  assert.match(out, /inserted +6\n +updated +6\n +unchanged +0\n/)
})

test('an import is refused if an attribute goes from a fifth of a source, or changes in half of it', async (t) => {
  const { run, refuse } = begin(t)
  /** So many of 100 companies without their town, and so many with another street. */
  const rows = (gone: number, moved: number, street = 'x') =>
    companies(100).map((one, n) => ({
      ...one,
      name: 'A',
      street: n < moved ? street : String(n),
      ...(n < gone && { town: null }),
    }))
  await load(run(rows(0, 0)))
  await refuse(
    () => run(rows(21, 0)),
    /^town +21 removed +GB 1: "Leeds" → – *\n[^]*^dossier: town would be removed from 21 of the 100 /m,
  )
  await load(run(rows(20, 0)))
  await refuse(() => run(rows(0, 51)), /street would change in 51/)
  await load(run(rows(0, 50)))
  // One that changes each time, such as a price, is asked for once.
  await load(run(rows(0, 100, 'y'), '--accept'))
  await load(run(rows(0, 100, 'z')))
})

test('removals at the end of one long listing are seen even if changes are estimated', async (t) => {
  const { run, refuse } = begin(t, 'rights')
  const rows = (name: string, kept: number) => [
    { id: 1, company_id: 1, name, status: 'live' },
    ...Array.from({ length: 10_000 }, (_, n) => ({
      id: n + 2,
      company_id: 2,
      name: 'x',
      status: n < kept ? 'live' : null,
    })),
  ]
  await load(run(rows('A', 10_000)))
  const says =
    /^status +about 2,\d+ removed [^]*^name +about \d changed [^]*: status .* from 2,\d+ of /m
  await refuse(() => run(rows('B', 7_600)), says)
})

test('companies that the source does not know are refused, whatever their names look like', async (t) => {
  const { run, refuse } = begin(t)
  const named = (count: number, jurisdiction: string, of: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => ({ jurisdiction, identifier: of(n) }))
  const known = (n: number) => `00${n + 1}`
  const says =
    /50 companies added: [^]*^dossier: of these 50 companies, 0 are .* 50 .* add --accept$/m
  const cases: readonly (readonly [string, of: (n: number) => string])[] = [
    ['IN', (n) => String(n + 1)],
    ['in', known],
    ['India', known],
    ['IN', (n) => `X${n}`],
  ]
  await load(run(named(50, 'IN', known)))
  for (const [jurisdiction, of] of cases) {
    await refuse(() => run(named(50, jurisdiction, of)), says)
  }
  await load(run([...named(50, 'IN', (n) => `X${n}`), ...named(13, 'IN', known)]))
  const strangers = named(50, 'IN', (n) => `Y${n}`)
  await load(run(strangers, '--accept'))
})

test('an extract of changes alone is not a large change of a source that has much more', async (t) => {
  const { run } = begin(t)
  await load(run(companies(300)))
  await load(run(companies(150, 'York')))
})

test('files without rows are refused unless --allow-empty', async (t) => {
  const { folder, run, refuse } = begin(t)
  await load(run(companies(1)))
  const says =
    /^dossier: there are no rows, so nothing was changed; if that is intended, add --allow-empty\n$/
  await refuse(() => run([]), says)
  for (const [name, text] of [
    ['empty.json', '[]'],
    ['header.csv', 'jurisdiction,identifier\n'],
  ] as const) {
    writeFileSync(join(folder, name), text)
    await refuse(() => runCommand(folder, ['import', 'companies', name]), says)
  }
  await load(run([], '--allow-empty'))
  // The columns that name a company are none of its attributes.
  for (const name of ['titel', 'identifier']) {
    await refuse(
      () => run(companies(1), '--name-attribute', name),
      new RegExp(`^dossier: no row has an attribute ${name}; check --name-attribute\n$`),
    )
  }
  await refuse(
    () => run([], '--snapshot', '--allow-empty'),
    /^dossier: the snapshot has no rows, .* dossier sources remove default --resource companies\n$/,
  )
})

test('an import that is refused as a mistake leaves no file of --rejects, and can be repeated', async (t) => {
  const { folder, run, refuse } = begin(t)
  await load(run(companies(20)))
  const rejects = join(folder, 'refused.ndjson')
  const args = ['--snapshot', '--rejects', 'refused.ndjson']
  const rows = [...companies(10), { jurisdiction: 'GB', identifier: '11', as_of: 'x' }]
  const attempt = () => run(rows, ...args)
  await refuse(attempt, /would remove 9 of the 20 companies .* add --accept\n$/)
  assert.equal(existsSync(rejects), false)
  // As of `mktemp`.
  writeFileSync(rejects, '')
  await refuse(attempt, /would remove 9 of the 20 companies .* add --accept\n$/)
  assert.equal(readFileSync(rejects, 'utf8'), '')
  await load(run(rows, ...args, '--accept'))
  assert.match(readFileSync(rejects, 'utf8'), /"number":11,"field":"as_of"/)
})

test('an import whose rows are all refused loads nothing, even with --rejects', async (t) => {
  const folder = makeFolder(t, { 'x.csv': 'id,company_id\neins,7\nzwei,7\n' })
  for (const [n, options] of [['--dry-run'], ['--allow-empty'], []].entries()) {
    const args = ['import', 'rights', 'x.csv', '--rejects', `${n}.ndjson`, ...options]
    const { code, out } = await runCommand(folder, args)
    assert.equal(code, 1)
    assert.match(out, /Dry run: nothing was changed|Nothing was loaded: 2 rows were refused/)
    assert.equal(
      readFileSync(join(folder, `${n}.ndjson`), 'utf8')
        .trimEnd()
        .split('\n').length,
      2,
    )
  }
})

test('a jurisdiction or identifier with blanks around it is refused; --trim removes them', async (t) => {
  const { folder, run, refuse, runOf } = begin(t)
  await load(run(companies(1)))
  const row = { jurisdiction: 'DE', identifier: ' 1', towns: [' Bonn ', 7], town: 'Bonn\u00a0' }
  await refuse(
    () => run([row]),
    /identifier: " 1": has leading or trailing blanks; to strip them from all texts, add --trim/,
  )
  const rights = runOf('rights')
  const right = { id: 1, company_jurisdiction: 'DE\t', company_identifier: '1', name: ' A' }
  await refuse(() => rights([right]), /company_jurisdiction: .* has leading or trailing blanks/)
  await load(run([row], '--trim'))
  await load(rights([right], '--trim'))
  const { out } = await runCommand(folder, 'company DE 1 --json')
  const [said] = (JSON.parse(out) as { sources: { attributes: object }[] }).sources
  assert.deepEqual(said?.attributes, { towns: ['Bonn', 7], town: 'Bonn' })
})

test('all faults of a row are reported at once, and are in the file of refused rows', async (t) => {
  const { folder, run } = begin(t, 'rights')
  const row = { nmae: 'A', registration_date: 'x', salary: 1, key: '' }
  const { err } = await run([row, row])
  assert.match(err, /nmae: is not a known column; did you mean name\? \(and 1 more row\)\n/)
  assert.match(err, /registration_date: "x": must be a date .* \(and 1 more row\)\n/)
  assert.match(err, /key: "": is blank.* \(and 1 more row\)\n/)
  assert.match(err, /names no company.* \(and 1 more row\)\n/)
  assert.doesNotMatch(err, /… and/)
  await run([row], '--rejects', 'refused.ndjson')
  const refused = JSON.parse(readFileSync(join(folder, 'refused.ndjson'), 'utf8')) as {
    field: string
    also: { field?: string }[]
  }
  const fields = [refused, ...refused.also].map(({ field }) => field)
  assert.deepEqual(fields, ['nmae', 'salary', 'registration_date', undefined, 'key'])
})

test('a later extract of records without id and key gets a warning unless it is a snapshot', async (t) => {
  const { run, refuse } = begin(t, 'rights')
  const rights = (...names: string[]) => names.map((name) => ({ company_id: 7, name }))
  await load(run(rights('a', 'b', 'c')))
  const warning =
    /^dossier: warning: 2 of these 3 records are known already, .*: without id .* add --snapshot$/m
  await refuse(() => run(rights('a', 'b', 'C'), '--strict'), /2 of these 3 records are known/)
  assert.match((await run(rights('a', 'b', 'C'))).err, warning)
  for (const rows of [rights('a', 'b', 'c', 'C'), rights('d', 'e')]) {
    const { code, err } = await run(rows)
    assert.deepEqual([code, err], [0, ''], 'nothing is added, or only new records are')
  }
  const { out, err } = await run(rights('a', 'b', 'x'), '--snapshot', '--accept')
  assert.equal(err, '')
  assert.match(out, /removed +4\n/)
})
