// Contract 1.5: a company in a path by its register number.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { companyPath } from '../../src/http/requests/company-request.ts'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { companiesScope } from '../../src/store/keys.ts'
import { checkFailure, makeApp, memberOf, messageOf, pathOf } from '../support/make-app.ts'
import { one, revert } from '../support/write-store.ts'

/** Companies, each with a right. */
const names = [
  ['GB', '09876543'],
  ['GB', 'SC123456'],
  ['DE', 'HRB 12/34: München'],
  ['DE', '00:1'],
] as const

const { ask, store } = await makeApp({ after })
const rows = names.map(([jurisdiction, identifier], at) => ({
  id: at + 1,
  name: identifier,
  company_jurisdiction: jurisdiction,
  company_identifier: identifier,
}))
await store.importRows('rights', rows)

test('a name in a path means its company, percent-encoded where necessary (1.5)', async () => {
  for (const [at, [jurisdiction, identifier]] of names.entries()) {
    const name = `${jurisdiction}:${encodeURIComponent(identifier)}`
    for (const segment of [name, encodeURIComponent(`${jurisdiction}:${identifier}`)]) {
      const answer = await ask(pathOf(rights, segment))
      assert.equal(answer.status, 200, answer.text)
      const ids = (memberOf(answer, 'rights') as { id: number }[]).map(({ id }) => id)
      assert.deepEqual(ids, [at + 1])
    }
  }
})

test('by name or by id, the page is the same, and so is its tag (5)', async () => {
  for (const resource of resources) {
    const byName = await ask(`${pathOf(resource, 'GB:09876543')}?limit=7`)
    const location = byName.headers['content-location'] ?? ''
    assert.match(location, new RegExp(`^/api/v1/companies/\\d+/${resource.name}\\?page=1&limit=7$`))
    const byId = await ask(location)
    assert.equal(byId.headers['content-location'], undefined)
    assert.equal(byId.text, byName.text)
    for (const header of ['etag', 'link', 'data-version', 'last-modified']) {
      assert.equal(byId.headers[header], byName.headers[header], header)
    }
    const again = await ask(`${pathOf(resource, 'GB:09876543')}?limit=7`, {
      headers: { 'if-none-match': byId.headers['etag'] ?? '' },
    })
    assert.equal(again.status, 304)
    assert.equal(again.headers['content-location'], location)
  }
})

test('an unknown name is a 404 that names near ones (1.5)', async () => {
  const near: readonly (readonly [asked: string, ...near: string[]])[] = [
    ['gb:09876543', 'GB:09876543'],
    ['GB:9876543', 'GB:09876543'],
    ['GB:0009876543', 'GB:09876543'],
    ['GB:0987-6543', 'GB:09876543'],
    ['GB: 09 87 65 43 ', 'GB:09876543'],
    ['GB:sc123456', 'GB:SC123456'],
    ['gb:sc 123456', 'GB:SC123456'],
  ]
  for (const [asked, expected] of near) {
    const answer = await ask(pathOf(rights, encodeURIComponent(asked)))
    const message = `Company ${asked} is not in the registry; did you mean ${expected}?`
    checkFailure(answer, 404, message)
  }
  const far = await ask(pathOf(rights, 'GB:11111111'))
  checkFailure(far, 404, 'Company GB:11111111 is not in the registry')
  const long = await ask(pathOf(rights, `GB:${'9'.repeat(2_000)}`))
  assert.equal(long.status, 404)
  assert.ok(messageOf(long).length < 200)
})

test('a key without the scope of companies learns of no other company (1.5, 7)', async () => {
  const scopes = ['rights'] as const
  const plain = await store.issueKey({ name: 'rights alone', scopes })
  const both = await store.issueKey({ name: 'both', scopes: [...scopes, companiesScope] })
  for (const [key, advice] of [
    [plain, ''],
    [both, '; did you mean GB:09876543?'],
  ] as const) {
    const answer = await ask(pathOf(rights, 'GB:9876543'), { key })
    checkFailure(answer, 404, `Company GB:9876543 is not in the registry${advice}`)
  }
})

test('a wrong parameter is reported before an unknown name (1.4)', async () => {
  const answer = await ask(`${pathOf(rights, 'GB:1')}?limit=0`)
  checkFailure(answer, 400, /^limit is "0"/)
})

test('a name means the company that had it at the version, even if forgotten since (9.1)', async () => {
  const named = { company_jurisdiction: 'IT', company_identifier: '1' }
  await store.importRows('rights', [{ id: 201, ...named }])
  const before = await ask(pathOf(rights, 'IT:1'))
  const version = Number(before.headers['data-version'])
  await revert(store.db, one(version))
  await setImmediate()
  checkFailure(await ask(pathOf(rights, 'IT:1')), 404, 'Company IT:1 is not in the registry')
  const checkPast = async (path: string) => {
    const byName = await ask(`${path}?version=${version}`)
    assert.equal(byName.status, 200, byName.text)
    assert.equal((await ask(byName.headers['content-location'] ?? '')).text, byName.text)
    return byName.text
  }
  assert.equal(await checkPast(pathOf(rights, 'IT:1')), before.text)
  await checkPast(companyPath('IT:1'))

  // Another company has the name now.
  await store.importRows('rights', [{ id: 202, company_id: 77, ...named }])
  await setImmediate()
  assert.equal(await checkPast(pathOf(rights, 'IT:1')), before.text)
})

test('a name at a version that does not exist yet is the 404 of that version (9.3)', async () => {
  // A standby that lags may not know the name yet.
  for (const name of ['IT:1', 'IT:new']) {
    for (const path of [pathOf(rights, name), companyPath(name)]) {
      const later = await ask(`${path}?version=9007199254740991`)
      checkFailure(later, 404, /^Version 9007199254740991 does not exist yet/)
      assert.equal(later.headers['retry-after'], '1')
    }
  }
})

test('changes of a name that was forgotten since show what is gone (12.2)', async () => {
  await store.importRows('rights', [
    { id: 203, company_jurisdiction: 'IT', company_identifier: '2' },
  ])
  const key = await store.issueKey({ name: 'following', scopes: ['rights', 'changes'] })
  const follow = (after: string) => ask(`/api/v1/changes?after=${after}&company_id=IT:2`, { key })
  const first = await follow('0')
  await revert(store.db, one(Number(first.headers['data-version'])))
  await setImmediate()
  const gone = await follow(String(memberOf(first, 'until')))
  const changes = memberOf(gone, 'changes') as { readonly change: string; readonly id: number }[]
  const told = changes.map(({ change, id }) => `${change} ${id}`)
  assert.deepEqual(told, ['remove 203'])
})

test('a company that an import has just named is found (1.5)', async () => {
  const path = pathOf(rights, 'FR:1')
  checkFailure(await ask(path), 404, 'Company FR:1 is not in the registry')
  await store.importRows('rights', [
    { id: 99, company_jurisdiction: 'FR', company_identifier: '1' },
  ])
  assert.equal((await ask(path)).status, 200)
})
