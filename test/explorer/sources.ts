// What sources say about a company, and no longer say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untilLoaded } from './browser.ts'
import { serveRegistry } from './own-registry.ts'

const company = (more: object) => ({ id: 7, jurisdiction: 'GB', identifier: '1', ...more })

export function testSources(): void {
  test('an attribute may have the name of a member that every object has', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load('companies', [company({ name: 'Northwind' })], 'stats')
    await registry.load('companies', [company({ name: 'Northwind' })])
    await registry.load('companies', [company({ name: 'Northwind', constructor: 'Jane & Co.' })])
    const page = await registry.visit('/companies/7')
    const rowOf = (text: string) => page.getByRole('row', { name: text, exact: true })
    await rowOf('Constructor Jane & Co. not known').waitFor()
    await page.evaluate('location.hash = "#/companies/7?version=2"')
    await page.getByText('You are looking at the past').waitFor()
    await page.evaluate('location.hash = "#/companies/7/differences?from=2&to=3"')
    await page.getByText(/not known\s*→\s*Jane & Co\./).waitFor()
  })

  test('an attribute that a source no longer gives is a change between two versions', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load('companies', [company({ name: 'Northwind', seat: 'Leeds' })])
    await registry.load('companies', [company({ name: 'Northwind' })])
    const page = await registry.visit('/companies/7/differences?from=1&to=2')
    const part = page.locator('.difference', { hasText: 'What each source says' })
    await part.getByText(/Leeds\s*→\s*not known/).waitFor()
    assert.equal(await part.getByRole('term').innerText(), 'Seat')
  })

  test('sources differ only if two that list the company give different values', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load('companies', [company({ seat: 'Leeds', name: 'Northwind' })], 'stats')
    await registry.load('companies', [company({ seat: 'York', name: 'Northwind' })], 'tax')
    await registry.load('companies', [company({ seat: 'Hull', vat: '1', name: null })])
    const page = await registry.visit('/companies/7')
    const rowOf = (text: string) => page.getByRole('row', { name: text, exact: true })
    await rowOf('Seat differs Hull Leeds York').waitFor()
    await rowOf('Name not known Northwind Northwind').waitFor()
    await rowOf('Vat 1 not known not known').waitFor()
    const other = company({ id: 8, identifier: '2' })
    for (const source of ['stats', 'tax']) await registry.load('companies', [other], source)
    const later = await registry.visit('/companies/7')
    await later.getByRole('row', { name: 'Seat Hull Leeds York', exact: true }).waitFor()
  })

  test('the names of attributes stay in sight beside the last source', async (t) => {
    const registry = await serveRegistry(t)
    for (const source of ['gov', 'stats', 'tax'])
      await registry.load('companies', [company({ seat: source.repeat(9) })], source)
    const page = await registry.visit('/companies/7', { width: 375 })
    const name = page.getByRole('rowheader', { name: 'Seat' })
    const placeOf = async () => (await name.boundingBox())?.x
    const before = await placeOf()
    await page.evaluate('document.querySelector(".scroller").scrollTo(9999, 0)')
    const scrolled = await page.evaluate('document.querySelector(".scroller").scrollLeft')
    assert.ok(Number(scrolled) > 50, `${String(scrolled)} pixels`)
    assert.equal(await placeOf(), before)
  })

  test('long names of sources leave all sources in sight', async (t) => {
    const registry = await serveRegistry(t)
    const names = ['a', 'b', 'c'].map((name) => `${'tax-office-'.repeat(5)}${name}`)
    for (const source of names) await registry.load('companies', [company({})], source)
    const page = await registry.visit('/companies/7', { width: 800 })
    await page.getByRole('columnheader', { name: names[2] ?? '' }).waitFor()
    await untilLoaded(page)
    assert.equal(await page.getByText('More columns to the right').count(), 0)
  })

  test('an extract that is still asked for is not said to be unknown', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load('companies', [company({ seat: 'Leeds' })])
    const page = await registry.visit('/', { expected: /status of 429/ })
    const wait = { status: 429, headers: { 'retry-after': '60' } }
    await page.route(/\/versions/, (route) => route.fulfill(wait))
    await page.evaluate('location.hash = "#/companies/7"')
    await page.getByText(/^This key has no requests left for now/).waitFor()
    await page.getByRole('row', { name: 'Newest extract …' }).waitFor()
    await page.getByRole('row', { name: 'Imported …' }).waitFor()
  })

  test('a status that has ended is not the latest one', async (t) => {
    const registry = await serveRegistry(t)
    for (const status of ['active', 'dissolved', null])
      await registry.load('companies', [company({ name: 'Northwind', status })])
    const page = await registry.visit('/companies/7?version=2')
    const facts = page.locator('.facts')
    await facts.getByText('dissolved since 2 Jan 2024').waitFor()
    await page.getByRole('link', { name: 'Back to now' }).click()
    await page.getByText(/^Now · Version 3/).waitFor()
    await facts.getByText('dissolved').waitFor({ state: 'detached' })
    await untilLoaded(page)
    assert.match(await facts.innerText(), /^Number\s+GB 1\s+ID\s+7$/)
  })
}
