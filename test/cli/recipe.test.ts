// A source is said once: the log keeps how it was imported, and its next extract is one line.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { makePlace, query } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, startDossier } from '../support/run-dossier.ts'
import { aboveStores, storeAt } from '../support/store-at.ts'
import { storeDigest } from '../support/store-state.ts'

/** A register with holders' jobs, as a file without a format that Dossier knows by itself. */
const register = (rows: readonly (readonly [id: number, name: string])[]) =>
  `Register of companies\nJ;I;N\n${rows.map(([id, name]) => `IN;${id};${name}\n`).join('')}`

const companiesSql = `select J as jurisdiction, I as identifier, N as name from source`
const employeesSql = `
  select J as company_jurisdiction, I as company_identifier, I as key, N as name from source`

function begin(t: TestContext) {
  const { folder, db } = makePlace(t)
  const env = { DOSSIER_DB: storeAt(db) }
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('companies.sql', companiesSql)
  write('employees.sql', employeesSql)
  const first = [1, 2, 3].map((id) => [id, `Acme ${id}`] as const)
  write('nse-2025-10.csv', register(first))
  write('nse-2025-11.csv', register([[1, 'Zenith'], ...first.slice(1)]))
  const run = (line: string) => runCommand(folder, line.split(' '), { env })
  const load = async (line: string) => (await mustRun(folder, line, { env })).out
  async function refuse(line: string, says: RegExp): Promise<void> {
    const before = await storeDigest(db)
    checkExit(await run(line), 1, says)
    assert.equal(await storeDigest(db), before, 'nothing has changed')
  }
  return { folder, db, write, run, load, refuse }
}

const above = { skip: aboveStores }
const options = '--source nse --map ./companies.sql --skip-lines 1 --snapshot'

/** The same, and the first extract is imported. */
async function beginWithOctober(t: TestContext) {
  const begun = begin(t)
  await begun.load(`import companies nse-2025-10.csv ${options}`)
  return begun
}

describe('the recipe of a source', () => {
  test('sources show prints the command, days and files of the last import, and its mapping', async (t) => {
    const { load } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31`)
    const shown = await load('sources show nse')
    assert.match(shown, /^companies from source nse: 1 import in effect, the last is version 1$/m)
    assert.match(
      shown,
      /^ {2}dossier import companies nse-2025-10\.csv --source nse --map .* --as-of 2025-10-31$/m,
    )
    const says = /^ {2}dates: 2025-10-31\n {2}nse-2025-10\.csv {2}\d+ bytes {2}[0-9a-f]{64}$/m
    assert.match(shown, says)
    assert.match(await load('sources show nse --sql'), /^-- companies .*\nselect J as [^\n]*\n$/)
    const [one] = JSON.parse(await load('sources show nse --json')) as Record<string, unknown>[]
    assert.equal(one?.['mapping'], companiesSql)
    assert.deepEqual(one['options'], ['--map=./companies.sql', '--snapshot', '--skip-lines=1'])
  })

  test('update does the same with the next file, by the text of the mapping in the log', async (t) => {
    const { folder, db, load } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31`)
    // Its file is not needed any more, so that nothing reads it.
    writeFileSync(join(folder, 'companies.sql'), Buffer.of(0xff))
    const out = await load('update nse nse-2025-11.csv --as-of 2025-11-30')
    assert.match(out, /^dossier import companies nse-2025-11\.csv --source nse --map \.\/companies/)
    assert.match(out, /updated +1\n +unchanged +2\n/)
    assert.match(out, /events recorded +1\n/)
    const [row] = query(db, 'select is_snapshot, as_of from imports where version = 2')
    assert.deepEqual([Number(row?.['is_snapshot']), row?.['as_of']], [1, '2025-11-30T00:00:00Z'])
  })

  test('what was removed with its source is loaded again by an update', async (t) => {
    const { load } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31`)
    await load('sources remove nse --yes')
    const out = await load('update nse nse-2025-10.csv --as-of 2025-10-31')
    assert.match(out, /Committed as version 3/)
    assert.match(await load('update nse nse-2025-10.csv'), /of version 3; nothing to do$/m)
    const known = JSON.parse(await load('update nse nse-2025-10.csv --json')) as unknown
    const named = { version: null, resource: 'companies', source: 'nse' }
    assert.deepEqual(known, { ...named, files_of_version: 3 })
  })

  test('what was withheld returns with the same file, by the permission that lift names', async (t) => {
    const { load } = await beginWithOctober(t)
    await load('withhold erase company IN:2 --reason law --by me --yes')
    const lifted = await load('withhold lift 1 --reason error --by me --yes')
    assert.match(lifted, /; to update from the last file again, add --accept\.$/m)
    assert.match(await load('update nse nse-2025-10.csv'), /of version 1; nothing to do$/m)
    assert.match(await load('update nse nse-2025-10.csv --accept'), /inserted +1\n/)
  })

  test('a removal does not count as an extract when the next one is expected', async (t) => {
    const { load } = begin(t)
    for (const day of ['2025-08-28', '2025-09-28', '2025-10-28']) {
      await load(`import companies nse-2025-10.csv ${options} --accept --as-of ${day}`)
    }
    const expected = /^nse +companies +3 +3 +version \d, \S+ +2025-10-28 +2025-11-28$/m
    assert.match(await load('sources'), expected)
    await load('sources remove nse --yes')
    await load('update nse nse-2025-10.csv --as-of 2025-10-28')
    assert.match(await load('sources'), expected)
  })

  test('a reverted import is not a recipe', async (t) => {
    const { load } = await beginWithOctober(t)
    await load('update nse nse-2025-11.csv --trim')
    assert.match(await load('sources show nse'), /version 2\n.* --trim$/m)
    await load('revert 2')
    assert.doesNotMatch(await load('sources show nse'), /--trim/)
  })

  test('a known file is left alone, an older one and one of a known day are refused', async (t) => {
    const { db, load, refuse, write } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31`)
    const before = await storeDigest(db)
    for (const day of ['', ' --as-of 2025-10-31', ' --as-of 2025-11-30']) {
      const out = await load(`update nse nse-2025-10.csv${day}`)
      assert.match(out, /^companies: nse-2025-10\.csv is the file of version 1; nothing to do$/m)
    }
    assert.equal(await storeDigest(db), before)
    await refuse(
      `import companies nse-2025-10.csv ${options} --as-of 2025-11-30`,
      / is the file of version 1, as of 2025-10-31, not 2025-11-30; .* add --accept$/m,
    )
    await refuse(
      'update nse nse-2025-11.csv --as-of 2025-10-31',
      /^dossier: 2025-10-31 is the date of version 1, from another file \(nse-2025-10\.csv\)/,
    )
    await load('update nse nse-2025-11.csv --as-of 2025-11-30')
    await refuse('update nse nse-2025-10.csv', /is the file of version 1, but version 2 is newer/)
    write('nse-2025-12.csv', register([[1, 'Apex']]))
    for (const accept of ['', ' --accept']) {
      await refuse(
        `update nse nse-2025-12.csv --as-of 2025-11-01${accept}`,
        /^dossier: the extract is as of 2025-11-01, .* undo .* revert 2 --with-later, /m,
      )
    }
    await load('update nse nse-2025-10.csv --as-of 2025-12-31 --accept')
  })
})

describe('an update by a recipe', above, () => {
  test('update opens the store with the list of what is withheld that it was given', async (t) => {
    const { load } = begin(t)
    const list = '--withheld own-list.ndjson'
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31 ${list}`)
    await load(`withhold erase company 1000000000001 --reason law --by me --yes ${list}`)
    const out = await load(`update nse nse-2025-11.csv --as-of 2025-11-30 ${list}`)
    assert.match(out, /withheld +1\n/)
  })

  test('options given override the recipe, and become it; an import sets a new one', async (t) => {
    const { load, write } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --null x --null y`)
    write('no-title.csv', register([[1, 'N/A']]).replace(/.*\n/, ''))
    const out = await load('update nse no-title.csv --skip-lines 0 --null N/A --accept')
    assert.match(out, / --snapshot --accept --skip-lines 0 --null N\/A\n/)
    const shown = await load('sources show nse')
    assert.match(shown, / --snapshot --skip-lines 0 --null N\/A$/m)
    const others = '--source nse --map ./companies.sql --skip-lines 1'
    await load(`import companies nse-2025-11.csv ${others} --accept`)
    assert.match(await load('sources show nse'), new RegExp(`11\\.csv ${others}$`, 'm'))
    const staff = options.replace('companies', 'employees').replace('nse', 'staff')
    await load(`import employees nse-2025-10.csv ${staff} --history --as-of 2025-10-31`)
    const last = await load('update staff nse-2025-11.csv --no-history')
    assert.doesNotMatch(last, / --history/)
  })

  test('all kinds that came from one file are updated from the next, a version each', async (t) => {
    const { load, run, write } = await beginWithOctober(t)
    const second = options.replace('companies', 'employees')
    await load(`import employees nse-2025-10.csv ${second}`)
    const out = await load('update nse nse-2025-11.csv')
    assert.match(out, /^dossier import comp[^]*version 3[^]*^dossier import emp[^]*version 4/m)
    // From files of their own, they are told apart by the names.
    write('jobs-1.csv', register([[1, 'Cook']]))
    const jobs = options.replace('companies', 'employees').replace('--snapshot', '--accept')
    await load(`import employees jobs-1.csv ${jobs}`)
    write('jobs-2.csv', register([[1, 'Chef']]))
    assert.doesNotMatch(await load('update nse jobs-2.csv'), /import companies/)
    write('other.csv', register([[1, 'Chief']]))
    const other = await run('update nse other.csv')
    checkExit(other, 1, /^dossier: nse gives companies \(last from .*: --resource NAME$/m)
    await load('update nse other.csv --resource employees')
  })

  test('the name of a file may begin with a dash', async (t) => {
    const { load, write } = await beginWithOctober(t)
    write('-2025-11.csv', register([[1, 'Zenith']]))
    const out = await load('update nse --accept -- -2025-11.csv')
    assert.match(out, /^dossier import companies \.\/-2025-11\.csv --source nse .*\n[^]*version 2/)
  })

  test('an update that is interrupted after its first kind does not say that nothing was changed', async (t) => {
    const { folder, load, db } = await beginWithOctober(t)
    await load(`import employees nse-2025-10.csv ${options.replace('companies', 'employees')}`)
    execFileSync('mkfifo', [join(folder, 'nse-2025-12.csv')])
    const { child, until, ended } = startDossier(
      t,
      folder,
      'update nse nse-2025-12.csv --complete',
      {
        env: { DOSSIER_DB: storeAt(db) },
      },
    )
    spawn('sh', ['-c', 'cat nse-2025-11.csv > nse-2025-12.csv'], { cwd: folder })
    // The second kind waits for the pipe to be written again.
    await until(/^dossier import employees/m)
    child.kill('SIGINT')
    const run = await ended
    assert.match(run.out, /version 3/)
    checkExit(run, 130, /^dossier: interrupted; the changes reported before are kept$/m)
  })

  test('kinds after one that is refused are not tried, and a mapping is for one kind', async (t) => {
    const { db, load, run, write } = await beginWithOctober(t)
    await load(`import employees nse-2025-10.csv ${options.replace('companies', 'employees')}`)
    write(
      'twice.csv',
      register(['A', 'B', 'C', 'D'].map((name, n) => [Math.max(n, 1), name] as const)),
    )
    const before = await storeDigest(db)
    const twice =
      /given before with other content[^]*^Not imported, since companies failed: employees$/m
    checkExit(await run('update nse twice.csv'), 1, twice)
    const strange = await run('update nse nothing.csv')
    assert.match(strange.err, /^Not imported, [^]*^dossier: nothing\.csv does not exist; .* name$/m)
    const mapped = await run('update nse nse-2025-11.csv --map ./companies.sql')
    const asksForOne = /^dossier: --map is for one kind, .* add --resource companies or employees$/m
    checkExit(mapped, 2, asksForOne)
    const rejects = await run('update nse nse-2025-11.csv --rejects refused.ndjson')
    assert.match(rejects.err, /^dossier: --rejects is for one kind, but these files give comp/)
    assert.equal(await storeDigest(db), before)
  })

  test('a removal of a source says which recorded events stay, and is in the log', async (t) => {
    const { load, run } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31`)
    await load('update nse nse-2025-11.csv --as-of 2025-11-30')
    const { code, out } = await run('sources remove nse')
    assert.equal(code, 1)
    assert.match(
      out,
      /^events recorded .* are kept \(1\); .*: dossier sources remove nse\/companies$/m,
    )
    await load('sources remove nse --yes')
    assert.match(await load('imports'), /^version 3 .* companies from nse, sources remove, in /m)
  })

  test('a known file whose changes are recorded needs no day, another file does', async (t) => {
    const { load, refuse } = begin(t)
    const recorded = options.replace('companies', 'employees')
    await load(`import employees nse-2025-10.csv ${recorded} --history --as-of 2025-10-31`)
    assert.match(await load('update nse nse-2025-10.csv'), /of version 1; nothing to do$/m)
    const needsDay =
      /^dossier: nse was last imported as of 2025-10-31; give --history --as-of DATE, or /m
    await refuse('update nse nse-2025-11.csv', needsDay)
  })

  test('a known file is imported again if the recipe has changed', async (t) => {
    const { load, write } = begin(t)
    await load(`import companies nse-2025-10.csv ${options} --as-of 2025-10-31`)
    write('companies.sql', companiesSql.replace('N as name', 'upper(N) as name'))
    const out = await load('update nse nse-2025-10.csv --as-of 2025-10-31 --map ./companies.sql')
    assert.match(out, /updated +3\n/)
  })

  test('without a recipe, update says how to make one, and creates no store', async (t) => {
    const { refuse, run } = await beginWithOctober(t)
    await refuse('update nes nse-2025-11.csv', /^dossier: there is no .* nes; did you mean nse\?$/m)
    await refuse(
      'update other nse-2025-11.csv',
      /^dossier: other has no recipe, .* import it first: dossier import … --source other$/m,
    )
    assert.equal((await run('update')).code, 2)
    assert.match((await run('update nse')).err, /^dossier: name the files to update nse from$/m)
  })

  test('a forgotten --snapshot is refused where all earlier imports had it', async (t) => {
    const { load, refuse } = await beginWithOctober(t)
    const without = options.replace(' --snapshot', '')
    await refuse(
      `import companies nse-2025-11.csv ${without}`,
      /^dossier: the import of companies from nse so far was a snapshot, .* dossier update nse/m,
    )
    await load(`import companies nse-2025-11.csv ${without} --accept`)
    await load(`import companies nse-2025-10.csv ${without}`)
  })
})

test('a new store is named in the report of the import that creates it', async (t) => {
  const { load } = begin(t)
  const out = await load(`import companies nse-2025-10.csv ${options}`)
  assert.match(out, /^Created the store \S+\.$/m)
  assert.doesNotMatch(await load('update nse nse-2025-11.csv'), /is new/)
})

test('the difference is in a dry run, in the log, and as JSON', async (t) => {
  const { load, refuse, run, write } = await beginWithOctober(t)
  write('nse-2025-12.csv', register(['Apex', 'Acme 3', 'Zeta'].map((name, n) => [n + 2, name])))
  const shown =
    /^ {2}name +1 changed +IN 2: "Acme 2" → "Apex"\n.*company added: IN 4\n.*company removed: IN 1$/m
  assert.match(await load('update nse nse-2025-12.csv --dry-run'), shown)
  await load('update nse nse-2025-12.csv')
  assert.match(await load('imports show 2'), shown)
  const one = JSON.parse(await load('imports show 2 --json')) as { difference: object }
  const examples = [{ company: 'IN 2', before: 'Acme 2', after: 'Apex' }]
  assert.deepEqual(one.difference, {
    ...{ rows_in_files: 3, rows_before: 3, one_in: 1, same_in_all_rows: [] },
    attributes: [{ name: 'name', changed: 1, added: 0, removed: 0, examples }],
    companies_added: { count: 1, names: ['IN 4'] },
    companies_removed: { count: 1, names: ['IN 1'] },
  })
  // What was replaced is nowhere in the store after a prune.
  await load('prune --keep 0d --yes')
  assert.doesNotMatch(await load('imports show 2'), /Acme 2|Apex/)
  await refuse('imports show 7', /^dossier: there is no version 7; see: dossier imports$/m)
  assert.equal((await run('imports show x')).code, 2)
})

test('the difference of records has their fields', above, async (t) => {
  const { load, write } = begin(t)
  const right = (id: number, name: string) => `{"id":${id},"company_id":1,"name":"${name}"}\n`
  write('1.ndjson', right(1, 'Mark') + right(2, 'Sign') + right(3, 'Brand'))
  write('2.ndjson', right(1, 'Marque') + right(2, 'Sign'))
  await load('import rights 1.ndjson')
  const out = await load('import rights 2.ndjson')
  assert.match(out, /^ {2}name +1 changed +1: "Mark" → "Marque"$/m)
})

test('beyond 2,000 changed rows, counts of values are estimates', above, async (t) => {
  const { load, write } = begin(t)
  const rows = (town: string) =>
    Array.from({ length: 4_002 }, (_, n) => `IN,${n + 1},${town}\n`).join('')
  write('1.csv', `jurisdiction,identifier,town\n${rows('York')}`)
  write('2.csv', `jurisdiction,identifier,town\n${rows('Ely')}`)
  await load('import companies 1.csv')
  const out = await load('import companies 2.csv --accept')
  assert.match(out, /^ {2}town +about 4,002 changed +IN 1: "York" → "Ely"$/m)
})

test('a difference has at most 10,000 attributes', above, async (t) => {
  const { load, write } = begin(t)
  const rows = (letter: string) =>
    Array.from({ length: 11 }, (_, n) => {
      const attributes = Array.from({ length: 500 }, (_, k) => [`${letter}${n}_${k}`, 'x'])
      return `${JSON.stringify({ jurisdiction: 'GB', identifier: `${n}`, ...Object.fromEntries(attributes) })}\n`
    }).join('')
  write('1.ndjson', rows('a'))
  write('2.ndjson', rows('b'))
  await load('import companies 1.ndjson')
  const out = await load('import companies 2.ndjson --accept')
  assert.match(out, /^ {2}… and at least 9,980 more attributes$/m)
})
