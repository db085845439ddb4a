// Time: earlier versions, what differs from now, and what changed between two.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { withhold } from '../support/write-store.ts'
import type { Locator, Page } from 'playwright-core'
import { requestsOf, untilLoaded, type VisitOptions } from './browser.ts'
import { type OwnRegistry, serveRegistry } from './own-registry.ts'

const refused = /status of 4\d\d/
/** What a key without scopes may read. */
const listings = ['companies', ...resources.map(({ name }) => name)]
const company = (name: string, more = {}) => ({
  id: 7,
  jurisdiction: 'GB',
  identifier: '09876543',
  name,
  ...more,
})
export const person = (id: number, name: string, position: string) => ({
  company_id: 7,
  id,
  name,
  position,
})

/** Five versions: the company twice by one source and once by another, its people twice. */
export async function makeHistory(t: TestContext): Promise<OwnRegistry> {
  const registry = await serveRegistry(t)
  await registry.load('companies', [company('Northwind Trading Ltd', { status: 'active' })])
  await registry.load('employees', [person(1, 'Ann', 'Clerk'), person(2, 'Bob', 'Clerk')])
  await registry.load('companies', [company('NORTHWIND', { share_capital: 100 })], 'stats')
  await registry.load('employees', [person(1, 'Ann', 'Director'), person(3, 'Cas', 'Clerk')])
  await registry.load('companies', [company('Northwind Trading Ltd', { status: 'dissolved' })])
  return registry
}

/** Opens a view of such a registry. */
export const visitHistory = async (t: TestContext, view: string, options?: VisitOptions) =>
  (await makeHistory(t)).visit(view, options)

/** The lines of what is shown. */
const linesOf = async (part: Locator) =>
  (await part.innerText()).split(/\s*\n\s*/).filter((line) => line !== '')

/** Asks for the state of the company as of a day. */
async function showDay(page: Page, day: string): Promise<void> {
  await page.getByLabel('State as of').fill(day)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
}

export function testVersions(): void {
  test('what each source says stands side by side', async (t) => {
    const registry = await makeHistory(t)
    // This makes a version, which does not come from a source.
    await withhold(registry.store.db, 'mask', { resource: 'employees', id: 1 })
    const page = await registry.visit('/companies/GB:09876543')
    await page.getByRole('columnheader', { name: 'gov' }).waitFor()
    await page.getByText('dissolved since 5 Jan 2024').first().waitFor()
    const rows = await page.locator('.sources tbody tr').allInnerTexts()
    const told = rows.map((row) => row.split('\t').map((cell) => cell.trim()))
    // A dash, and words for screen readers.
    const unknown = '–\nnot known'
    assert.deepEqual(told.slice(0, -1), [
      ['Name differs', 'Northwind Trading Ltd', 'NORTHWIND'],
      ['Share capital', unknown, '100'],
      ['Status', 'dissolved since 5 Jan 2024', unknown],
      ['Lists the company', 'Yes', 'Yes'],
      ['Last change', '5 Jan 2024, version 5', '3 Jan 2024, version 3'],
      ['Newest extract', '5 Jan 2024', '3 Jan 2024'],
    ])
    const [what, ...moments] = told.at(-1) ?? []
    assert.equal(what, 'Imported')
    for (const moment of moments) assert.match(moment, /^\d+ \w+ 20\d\d, \d\d:\d\d\sUTC$/)
    const facts = await page.locator('.facts').innerText()
    assert.match(facts, /Status\s*dissolved since 5 Jan 2024/)
    const card = page.locator('.card', { hasText: 'Employees' })
    await card.getByText(/^Newest from gov: extract of 4 Jan 2024, imported \d/).waitFor()
    assert.equal(await card.locator('.freshness').count(), 1)
    // The two numbers that are not known are no group of people.
    assert.equal(await card.locator('.bars').count(), 0)
    // None of the imports is one of events, but one of companies has recorded some.
    const changes = page.locator('.card', { hasText: 'Events' })
    await changes.getByText(/^Newest from gov: extract of 5 Jan 2024, imported \d/).waitFor()
  })

  test('a status has a day only if a change records it; numbers and lines stay as they are', async (t) => {
    const registry = await serveRegistry(t)
    const [founded, latitude] = [1998, 52.520008]
    for (const seat of ['1 High St\nLeeds', '1 High St\nYork']) {
      await registry.load('companies', [
        company('Northwind', { seat, status: 'active', founded, latitude }),
      ])
    }
    const page = await registry.visit('/companies/7?version=1')
    await page.getByRole('row', { name: `Latitude ${latitude}`, exact: true }).waitFor()
    await page.getByRole('row', { name: `Founded ${founded}`, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Back to now' }).click()
    const seat = page.getByRole('row', { name: 'Seat 1 High St York since 2 Jan 2024' })
    // A number of a street must not run into what comes next.
    assert.match(await seat.innerText(), /1 High St\nYork/)
    assert.match(await page.locator('.facts').innerText(), /Status\s+active\s+ID/)
  })

  test('a source that no longer lists the company says so, with the day, and is grey', async (t) => {
    const registry = await makeHistory(t)
    // The next extract of gov is without the company.
    await registry.load('companies', [{ ...company('Other Ltd'), id: 8, identifier: '1' }])
    const page = await registry.visit('/companies/7')
    await page.getByText('gov has not listed it since 6 Jan 2024 (version 6).').waitFor()
    const [former, other] = [page.locator('.sources td.former'), page.locator('.sources td')]
    assert.equal(await former.count(), 7)
    assert.equal(await other.count(), 14)
    const grey = 'getComputedStyle(document.querySelector(".sources td.former .text"))'
    assert.match(String(await page.evaluate(`${grey}.textDecorationLine`)), /line-through/)
    assert.equal(await page.getByText('No source lists this company any more.').count(), 0)
    // What the newest event says is still the latest status.
    assert.match(await page.locator('.facts').innerText(), /Status\s*dissolved since 5 Jan 2024/)
    await page.evaluate('location.hash = "#/companies/7?version=5"')
    await page
      .getByText('You are looking at the past: Version 5, extract of 5 Jan 2024, imported')
      .waitFor()
    assert.equal(await page.getByText('has not listed it').count(), 0)
    await page.getByRole('heading', { name: 'What each source said' }).waitFor()
    await page.getByRole('rowheader', { name: 'Listed the company' }).waitFor()
  })

  test('versions that did not touch the company are skipped, and a day leads to one', async (t) => {
    const registry = await makeHistory(t)
    const other = { ...company('Other Ltd'), id: 8, identifier: '1' }
    const loadOther = (name: string) =>
      registry.load('companies', [{ ...other, name }], `of ${name}`)
    for (const name of ['A', 'B']) await loadOther(name)
    await registry.load('employees', [person(1, 'Ann', 'Director'), person(3, 'Cas', 'Director')])
    await loadOther('C')
    const page = await registry.visit('/companies/7/employees', { expected: refused })
    await page.getByRole('button', { name: 'Look back' }).click()
    const slider = page.getByRole('slider')
    await slider.waitFor()
    // The button goes away; readers by keyboard go on in the page, not before it.
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
    // Six of nine versions.
    assert.equal(await slider.getAttribute('max'), '5')
    const place = String(await slider.getAttribute('aria-valuetext'))
    assert.match(place, /^Version 8 · Employees from gov · extract of 8 Jan/)
    await page.getByRole('button', { name: 'Earlier version' }).click()
    await page.getByText('You are looking at the past: Version 5, extract of 5 Jan 2024').waitFor()
    await showDay(page, '2024-01-02')
    await page.getByText('You are looking at the past: Version 2, extract of 2 Jan 2024').waitFor()
    await page.getByRole('row', { name: /Bob/ }).waitFor()
    assert.match(page.url(), /\?version=2$/)
    await showDay(page, '2023-12-31')
    await page
      .locator('.day-form')
      .getByText(/\w+\.$/)
      .waitFor()
    await showDay(page, '2030-01-01')
    await page.getByRole('row', { name: /Cas/ }).waitFor()
    // The company was known that day, while an empty listing would read as "had no employees".
    await showDay(page, '2024-01-01')
    await page.getByText('Nothing is known of employees as of 2024-01-01; the earliest').waitFor()
    assert.doesNotMatch(page.url(), /version/)
  })

  test('the slider begins with six earlier versions, and looks up more on request', async (t) => {
    const registry = await serveRegistry(t)
    for (let n = 1; n <= 10; n += 1) await registry.load('companies', [company(`Name ${n}`)])
    const page = await registry.visit('/companies/7')
    const asked = requestsOf(page)
    await page.getByRole('button', { name: 'Look back' }).click()
    const slider = page.getByRole('slider')
    await slider.waitFor()
    assert.equal(await slider.getAttribute('max'), '6')
    assert.equal(asked.filter((url) => url.includes('version=')).length, 6)
    await page.getByRole('button', { name: 'Earlier version' }).click()
    await page.getByText('You are looking at the past: Version 9').waitFor()
    assert.equal(await slider.getAttribute('max'), '6')
    await page.getByRole('button', { name: 'Look for earlier ones' }).click()
    await page.locator('input[type=range][max="9"]').waitFor()
  })

  test('versions are asked for once, and earlier ones once for each state of a company', async (t) => {
    const registry = await makeHistory(t)
    const asked: string[] = []
    const lookBack = async () => {
      await page.getByRole('button', { name: 'Look back' }).click()
      await page.locator('input[type=range][max="4"]').waitFor()
      await untilLoaded(page)
    }
    const page = await registry.visit('/companies/7', { expected: refused })
    await untilLoaded(page)
    page.on('request', (request) => asked.push(request.url().split(/api.v1.|[?]/)[1] ?? ''))
    await lookBack()
    assert.equal(asked.length, 4)
    for (const other of ['8', '7']) {
      await page.evaluate(`location.hash = "#/companies/${other}"`)
      await untilLoaded(page)
    }
    await lookBack()
    assert.deepEqual(asked.slice(4), ['companies/8', 'companies/7', 'companies/7/events'])
  })

  test('a field for a day accepts the days that the service accepts', async (t) => {
    const page = await visitHistory(t, '/companies/7/employees')
    await page.getByRole('button', { name: 'Look back' }).click()
    const asked = requestsOf(page)
    for (const day of ['12345-01-01', '9999-12-31']) {
      await page.evaluate(`
        document.querySelector('.day-form input').value = '${day}'
        document.querySelector('.day-form').requestSubmit()`)
    }
    await page.waitForResponse(/as_of=9999-12-31/)
    assert.ok(!asked.some((url) => url.includes('12345')), asked.join())
  })

  test('a day in an address names the version of its listing', async (t) => {
    // Version 3 is of companies, of which a later day is no concern of the listing.
    const page = await visitHistory(t, '/companies/7/employees?as_of=2024-01-02&limit=50')
    await page.getByText('You are looking at the past: Version 3').waitFor()
    await page.getByRole('row', { name: /Bob Gone since/ }).waitFor()
    assert.match(page.url(), /employees\?limit=50&version=3$/)
  })

  test('earlier versions that cannot be requested are not reported as missing', async (t) => {
    const page = await visitHistory(t, '/companies/7', { expected: /ERR_FAILED/ })
    await untilLoaded(page)
    await page.route(/version=/, (route) => route.abort())
    await page.getByRole('button', { name: 'Look back' }).click()
    await page.getByText('The service cannot be reached.').waitFor()
    assert.equal(await page.getByText('There is no earlier version').count(), 0)
    await page.unroute(/version=/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('slider').waitFor()
  })

  test('a slider leads to earlier versions by keyboard; what differs from now is marked', async (t) => {
    const page = await visitHistory(t, '/companies/7/employees')
    await page.getByRole('button', { name: 'Look back' }).click()
    const slider = page.getByRole('slider', { name: 'Versions that changed this company' })
    await slider.waitFor()
    assert.match(String(await slider.getAttribute('aria-valuetext')), /^Version 5 · .+gov/)
    await slider.focus()
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowLeft')
    await page.getByText('Compared with now: 1 changed, 1 gone, 1 new since.').waitFor()
    assert.match(page.url(), /\?version=2$/)
    await page.keyboard.press('ArrowLeft')
    await page.getByText('Compared with now: 2 new since.').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByText('Compared with now: 1 changed, 1 gone, 1 new since.').waitFor()
    await page.getByRole('row', { name: /Ann Changed since.*Clerk.*now Director/ }).waitFor()
    await page.getByRole('row', { name: /Bob Gone since/ }).waitFor()
    const struck = 'getComputedStyle(document.querySelector(".gone th .text")).textDecorationLine'
    assert.equal(await page.evaluate(struck), 'line-through')
    assert.equal(await page.getByRole('row', { name: /Cas/ }).count(), 0)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('row', { name: /Status active now dissolved/ }).waitFor()
    await page.getByRole('link', { name: 'Back to now' }).click()
    await page.getByRole('row', { name: /Status dissolved/ }).waitFor()
    assert.doesNotMatch(page.url(), /version/)
  })

  test('the comparison begins with the first version that is kept', async (t) => {
    const registry = await serveRegistry(t)
    const other = { ...company('Other Ltd'), id: 8, identifier: '1' }
    await registry.load('companies', [company('Northwind Trading Ltd')])
    await registry.load('companies', [other], 'stats')
    await registry.store.prune()
    await registry.load('companies', [{ ...other, name: 'Another Ltd' }], 'stats')
    const page = await registry.visit('/companies/7')
    // What is no longer kept was imported all the same.
    await page.getByRole('row', { name: 'Newest extract 1 Jan 2024' }).waitFor()
    await page.getByRole('button', { name: 'Look back' }).click()
    await page.getByText(/^There is no earlier version.+Companies from gov/).waitFor()
    await page.getByRole('link', { name: 'What changed between two versions' }).click()
    await page.getByText('Nothing changed.').waitFor()
    assert.equal(await page.getByLabel('Earlier version').locator('option').count(), 2)
  })

  for (const scopes of [listings, [...listings, 'changes']]) {
    const which = scopes === listings ? 'any key' : 'a key that may ask for changes'
    test(`what changed between two versions, record by record, with ${which}`, async (t) => {
      const registry = await makeHistory(t)
      const page = await registry.visitWith({ name: 'reader', scopes }, '/companies/7')
      const asked = requestsOf(page)
      await page.getByRole('button', { name: 'Look back' }).click()
      await page.getByRole('link', { name: 'What changed between two versions' }).click()
      await page
        .getByText(/active\s*→\s*dissolved/)
        .first()
        .waitFor()
      await page.getByRole('combobox', { name: 'Earlier version' }).selectOption('2')
      const part = page.locator('.difference', { hasText: 'Employees' })
      await part.getByText('Ann').waitFor()
      assert.deepEqual(await linesOf(part), [
        ...['Employees', 'Changed 1', 'Ann Director', 'Position', 'Clerk → Director'],
        ...['New 1', 'Cas Clerk', 'Gone 1', 'Bob Clerk'],
      ])
      const loaded = asked.filter((url) => url.includes('/employees?version=5'))
      assert.equal(loaded.length, scopes === listings ? 1 : 0)
      await page.getByRole('combobox', { name: 'Later version' }).selectOption('2')
      await page.getByText('Nothing changed.').waitFor()
      // The earlier one of two comes first.
      await page.getByRole('combobox', { name: 'Later version' }).selectOption('1')
      await page.getByText('New 2').waitFor()
      assert.match(page.url(), /from=1&to=2/)
      await page.evaluate('location.hash = "#/companies/7/differences?from=4&to=2"')
      await page.getByText('Gone 1').waitFor()
    })
  }

  test('one can look back beyond a version that withheld something (13)', async (t) => {
    const registry = await makeHistory(t)
    await withhold(registry.store.db, 'mask', { resource: 'employees', id: 1 })
    const page = await registry.visit('/companies/7')
    await page.getByRole('button', { name: 'Look back' }).click()
    await page.locator('.slider').waitFor()
    assert.equal(await page.getByRole('slider').getAttribute('max'), '5')
    await page.evaluate('location.hash = "#/companies/7/differences?from=5&to=6"')
    const later = page.getByRole('combobox', { name: 'Later version' })
    const named = later.getByRole('option', { name: /^Version 6 · Data withheld: Employees · / })
    await named.waitFor({ state: 'attached' })
  })

  test('all of a company is new since a version that did not know it', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load('companies', [{ ...company('Other Ltd'), id: 8, identifier: '1' }], 'stats')
    await registry.load('companies', [company('Northwind Trading Ltd')])
    await registry.load('employees', [person(1, 'Ann', 'Clerk'), person(2, 'Bob', 'Clerk')])
    for (const scopes of [listings, [...listings, 'changes']]) {
      const view = '/companies/7/differences?from=1&to=3'
      const issued = { name: `reader of ${scopes.length}`, scopes }
      const page = await registry.visitWith(issued, view, { expected: refused })
      await page.getByText('New 2').waitFor()
      assert.deepEqual(await page.locator('.difference').allInnerTexts(), [
        'What each source says\nNew 1\ngov',
        'Employees\nNew 2\nAnn Clerk\nBob Clerk',
      ])
      const title = 'What changed between two versions · Northwind Trading Ltd · Dossier'
      assert.equal(await page.title(), title)
    }
  })

  test('a comparison shows codes as words, as the listing does', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load('companies', [company('Northwind Trading Ltd')])
    const right = { company_id: 7, id: 1, name: 'Fan', object_type: 'utility_model' }
    await registry.load('rights', [right])
    const page = await registry.visit('/companies/7/differences?from=1&to=2')
    await page.getByText('utility model', { exact: true }).waitFor()
  })

  test('a listing that the key may not read is not said to be unchanged', async (t) => {
    const registry = await makeHistory(t)
    const narrow = {
      name: 'narrow',
      scopes: ['companies', 'rights', 'jobs', 'pos_terminals', 'events'],
    }
    const page = await registry.visitWith(narrow, '/companies/7/differences?from=3&to=4')
    await page.locator('.difference').waitFor()
    const parts = await page.locator('.differences').innerText()
    assert.match(parts, /Employees\s+This key may not read it\.$/)
    assert.doesNotMatch(parts, /Nothing changed/)
  })

  test('a key that may ask for changes sees what changed in a long listing', async (t) => {
    const registry = await serveRegistry(t)
    const jobs = Array.from({ length: 10_003 }, (_, n) => {
      return { company_id: 7, id: n + 1, title: `Job ${n + 1}` }
    })
    await registry.load('jobs', jobs.slice(0, 10_001))
    await registry.load('jobs', jobs)
    await registry.load('jobs', [{ ...jobs[1], title: 'Another job' }, ...jobs.slice(2)])
    const key = await registry.store.issueKey({ name: 'reader', scopes: [...listings, 'changes'] })
    const told = async (versions: string, used = registry.key) => {
      const page = await registry.visit(`/companies/7/differences?${versions}`, { key: used })
      const part = page.locator('.difference', { hasText: 'Jobs' })
      await part.waitFor()
      return linesOf(part)
    }
    const tooMany = 'More than 10,000 jobs: too many to compare here.'
    assert.deepEqual(await told('from=1&to=2'), ['Jobs', tooMany])
    const fresh = ['Jobs', 'New 2', 'Job 10002', 'Job 10003']
    assert.deepEqual(await told('from=1&to=2', key), fresh)
    const changed = ['Jobs', 'New or changed 1', 'Another job', 'Gone 1', 'Record 1']
    assert.deepEqual(await told('from=2&to=3', key), changed)
  })

  test('a value that was the same in all records shows where it differs now', async (t) => {
    const registry = await serveRegistry(t)
    const terminals = (status: string) =>
      [1, 2, 3].map((id) => ({
        ...{ company_id: 7, id, terminal_id: `T-${id}`, bank_name: 'Saltern' },
        status: id === 2 ? status : 'active',
      }))
    await registry.load('pos_terminals', terminals('active'))
    await registry.load('pos_terminals', terminals('closed'))
    const page = await registry.visit('/companies/7/pos_terminals?version=1')
    await page.getByRole('row', { name: /T-2 Changed since.* active now closed$/ }).waitFor()
    await page.getByText(/^The same in all rows:/).waitFor()
    const same = await page.locator('.same').innerText()
    assert.match(same, /Bank name\s+Saltern/)
    assert.doesNotMatch(same, /Status/)
  })

  test('going to now and back with the browser marks the differences each time', async (t) => {
    const page = await visitHistory(t, '/companies/7/employees?version=2')
    const said = page.locator('.marks-note')
    await said.waitFor()
    for (let turn = 0; turn < 2; turn += 1) {
      await page.getByRole('link', { name: 'Back to now' }).click()
      await page.getByRole('row', { name: /Cas/ }).waitFor()
      assert.equal(await said.count(), 0)
      await page.goBack()
      await said.waitFor()
      assert.equal(
        await said.innerText(),
        'Compared with now: 1 changed, 1 gone, 1 new since.',
        `turn ${turn}`,
      )
      await page.getByRole('row', { name: /Bob Gone since/ }).waitFor()
    }
  })
}
