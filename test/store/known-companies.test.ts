// Which companies are known after a revert, and by which register numbers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignedIdMin } from '../../src/store/sql/assigned-ids.ts'
import { importRows, queryStore } from '../support/import-rows.ts'
import { makeApp } from '../support/make-app.ts'
import { checkSound, makeSoundStore } from '../support/verify-store.ts'
import { one, prune, revert } from '../support/write-store.ts'

/** The known companies and their register numbers: `3=n3 new=`; `new` is the first assigned id. */
async function numbersIn(db: string): Promise<string> {
  const rows = await queryStore(db, 'select id, identifier from companies order by id')
  const shown = ({ id, identifier }: (typeof rows)[number]) =>
    `${Number(id) === assignedIdMin ? 'new' : Number(id)}=${(identifier as string | null) ?? ''}`
  return rows.map(shown).join(' ')
}

/** A row of a company, or a record of one, which may name it: `3`, `3=n3`, `=n3`, `new`. */
function rowOf(target: string, company: string, recordId: number): object {
  const [given, number] = company.split('=')
  const id = given === '' ? undefined : given === 'new' ? assignedIdMin : Number(given)
  if (target === 'companies') return { id, jurisdiction: 'GB', identifier: number }
  const named = number && { company_jurisdiction: 'GB', company_identifier: number }
  return { id: recordId, company_id: id, ...named }
}

/**
 * Runs a step: `jobs 3+4 by a` imports a job of each of these companies, and `alone` makes it a
 * snapshot; `revert 2`, `revert to 1`, `revert from 4` and `prune from 3` name versions.
 */
async function runStep(db: string, step: string, recordId: number): Promise<void> {
  const [verb = '', first = '', ...more] = step.split(' ')
  const version = Number(more[0] ?? first)
  if (verb === 'revert') {
    const ranges = { to: { to: version }, from: { version, isWithLater: true } } as const
    await revert(db, first === 'to' || first === 'from' ? ranges[first] : one(version))
  } else if (verb === 'prune') {
    const sql = `select committed_at from imports where version = ${version}`
    const [kept] = first === 'from' ? await queryStore(db, sql) : []
    await prune(db, kept && Number(kept['committed_at']))
  } else {
    const [, source = 'default'] = more[0] === 'by' ? more : []
    const rows = first.split('+').map((company, n) => rowOf(verb, company, recordId + n))
    const report = await importRows(db, verb, rows, { source, isSnapshot: more.includes('alone') })
    assert.deepEqual(report.problems, [], step)
  }
}

/** Steps, and the companies that are known after them. */
const cases: Readonly<Record<string, readonly (readonly [steps: string, known: string])[]>> = {
  'a company that another source has ever mentioned stays known': [
    // The other source now has its record elsewhere.
    ['rights 7; rights 7 by other; rights 8 by other alone; revert 1', '7= 8='],
  ],
  'a register number is removed with the only import of companies that gave it, and restored with it':
    [
      ['jobs 3; companies 3=wrong; revert 2', '3='],
      ['revert 3', '3=wrong'],
      // Another source says so, too.
      ['revert to 1; companies 3=right; revert 1; jobs 3 by other', '3=right'],
      ['companies 3=right by other; revert 6', '3=right'],
      ['revert 9', '3='],
    ],
  'a register number is removed with the last import that gave it, even after a prune': [
    ['jobs 3; companies 3=n3 by a; companies 3=n3 by b; revert 2; prune from 3', '3=n3'],
    ['revert 3', '3='],
  ],
  'the register number of an import that is in force again replaces that of a reverted one': [
    ['jobs 3+4; companies 3=first; companies 4=second; revert to 1', '3= 4='],
    ['companies 3=second; companies 4=first', '3=second 4=first'],
    // Takes back both imports, and the revert before them.
    ['revert from 4', '3=first 4=second'],
    ['revert to 6', '3=second 4=first'],
  ],
  'a revert of another source leaves the register number that a revert has restored': [
    ['jobs 3; companies 3=wrong by a; companies 9=other by b; revert 2', '3= 9=other'],
    ['companies 3=right by a; revert 5; revert 6; revert 3', '3=right'],
  ],
  'a company that is known again by its records alone has no register number': [
    // The last one takes back one version of the one before: the jobs are there again.
    ['rights 1; companies 3=n3; jobs 3; revert to 1; revert to 4', '1= 3='],
  ],
  'a company that one of several versions of a revert made known is forgotten with it': [
    ['rights 5 by a; rights 6 by b; revert to 0; revert to 2', '5= 6='],
    ['revert 6', '5='],
  ],
  'a company stays known even if only a pruned state shows that an import had it': [
    ['rights 5 by b; rights 5 by a; rights 6 by a alone; revert 1', '5= 6='],
    ['prune; jobs 6; revert 5', '5= 6='],
  ],
  'of two register numbers, the one whose import alone is in force again is restored': [
    ['rights 5; companies 5=first by a; revert 2; companies 5=second by b', '5=second'],
    ['revert 3', '5=second'],
    ['revert 4', '5=first'],
  ],
  'the last import in force that names a company gives its register number': [
    ['rights 5; companies 5=x by a; companies 5=x by b; revert 2; revert 3', '5='],
    // The import by b is in force again, but that by c is later.
    ['companies 5=y by c; revert 5', '5=y'],
    ['revert 6', '5=x'],
  ],
  'a register number returns to its company when another one no longer has it': [
    ['companies =n3 by a; revert 1; companies 3=n3 by b; revert 2', '3=n3 new='],
    ['revert 3', 'new=n3'],
  ],
  'a register number that records gave stays when companies that repeat it are reverted': [
    ['rights 5; jobs 5=n5; companies 5=n5; revert 3', '5=n5'],
    ['revert to 1', '5='],
  ],
  'a forgotten company that records mention by its assigned id returns under it': [
    ['companies =1; revert 1; jobs new', 'new='],
    ['prune; companies =1', 'new=1'],
  ],
}

for (const [title, parts] of Object.entries(cases)) {
  test(title, async (t) => {
    const db = makeSoundStore(t)
    let steps = 0
    for (const [some, known] of parts) {
      for (const step of some.split('; ')) await runStep(db, step, 10 * (steps += 1))
      assert.equal(await numbersIn(db), known, some)
    }
  })
}

test('a company that was named and forgotten since is known as it was before (9.1)', async (t) => {
  const { ask, db } = await makeApp(t)
  await importRows(db, 'companies', [{ jurisdiction: 'GB', identifier: '1' }])
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  await importRows(db, 'companies', [{ id: 3, jurisdiction: 'GB', identifier: '3' }])
  await revert(db, { to: 1 })
  assert.equal((await ask('/api/v1/companies/3/rights')).status, 404)
  for (const version of [2, 3]) {
    const { text } = await ask(`/api/v1/companies/3/rights?version=${version}`)
    assert.match(text, /"rights":\[\],"total":0/)
  }
})

test('no version of a revert has two companies of one register number', async (t) => {
  const { ask, db } = await makeApp(t)
  await importRows(db, 'companies', [{ id: 3, jurisdiction: 'GB', identifier: 'n' }])
  await revert(db, one(1))
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  // The company 3 has lost the number, so it makes another one known.
  await importRows(db, 'rights', [{ id: 1, company_jurisdiction: 'GB', company_identifier: 'n' }])
  await revert(db, { to: 1 })
  assert.equal(await numbersIn(db), '3=n')
  const idOf = async (version: number) => {
    const ids: number[] = []
    for (const id of [3, assignedIdMin]) {
      const { text } = await ask(`/api/v1/companies/${id}?version=${version}`)
      if (text.includes('"identifier":"n"')) ids.push(id)
    }
    const named = await ask(`/api/v1/companies/GB:n/jobs?version=${version}`)
    const [, id] = /companies\/(\d+)\/jobs/.exec(named.headers['content-location'] ?? '') ?? []
    assert.deepEqual(ids, [Number(id)])
    return Number(id)
  }
  const ids = [await idOf(4), await idOf(5), await idOf(6), await idOf(7)]
  assert.deepEqual(ids, [assignedIdMin, assignedIdMin, assignedIdMin, 3])
  await checkSound(db)
})
