// Time: earlier versions, what differs from now, and what changed between two.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type Bench, visit } from './browser.ts'
import { type OwnRegistry, serveRegistry } from './own-registry.ts'

const company = (name: string, more = {}) => ({
  ...{ id: 7, jurisdiction: 'GB', identifier: '09876543', name, ...more },
})
const person = (id: number, name: string, position: string) => ({
  company_id: 7,
  id,
  name,
  position,
})

/** Five versions: the company twice by one source and once by another, its people twice. */
async function makeHistory(t: TestContext): Promise<OwnRegistry> {
  const registry = await serveRegistry(t)
  await registry.load('companies', [company('Northwind Trading Ltd', { status: 'active' })])
  await registry.load('employees', [person(1, 'Ann', 'Clerk'), person(2, 'Bob', 'Clerk')])
  await registry.load('companies', [company('NORTHWIND', { share_capital: 100 })], 'stats')
  await registry.load('employees', [person(1, 'Ann', 'Director'), person(3, 'Cas', 'Clerk')])
  await registry.load('companies', [company('Northwind Trading Ltd', { status: 'dissolved' })])
  return registry
}

export function testVersions(given: () => Bench): void {
  test('what each source says stands side by side', async (t) => {
    const registry = await makeHistory(t)
    const page = await visit(t, given().browser, registry.address('/companies/GB:09876543'))
    await page.getByRole('columnheader', { name: 'gov' }).waitFor()
    const rows = await page.locator('.sources tbody tr').allInnerTexts()
    assert.deepEqual(
      rows.map((row) => row.split('\t').map((cell) => cell.trim())),
      [
        ['Name differs', 'Northwind Trading Ltd', 'NORTHWIND'],
        ['Share capital differs', 'not known', '100'],
        ['Status differs', 'dissolved', 'not known'],
        ['Lists the company', 'Yes', 'Yes'],
        ['Says so since', '5 Jan 2024', '3 Jan 2024'],
        ['Since version', '5', '3'],
      ],
    )
    await page.getByText('StateDissolved').or(page.getByText('dissolved').first()).waitFor()
  })

  test('a slider leads to earlier versions by keyboard; what differs from now is marked', async (t) => {
    const registry = await makeHistory(t)
    const page = await visit(t, given().browser, registry.address('/companies/7/employees'))
    await page.getByRole('button', { name: 'Look back' }).click()
    const slider = page.getByRole('slider', { name: 'Version of the registry' })
    assert.match(String(await slider.getAttribute('aria-valuetext')), /^Version 5, .+gov/)
    await slider.focus()
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowLeft')
    await page.getByText('Compared with now: 1 changed, 1 gone, 1 new since.').waitFor()
    assert.match(page.url(), /\?version=2$/)
    await page.getByRole('row', { name: /Ann Changed since.*Clerk.*now Director/ }).waitFor()
    await page.getByRole('row', { name: /Bob Gone since/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /Cas/ }).count(), 0)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('row', { name: /Status active now dissolved/ }).waitFor()
    await page.getByRole('link', { name: 'Back to now' }).click()
    await page.getByRole('row', { name: /Status differs dissolved/ }).waitFor()
    assert.doesNotMatch(page.url(), /version/)
  })

  test('what changed between two versions, record by record', async (t) => {
    const registry = await makeHistory(t)
    const page = await visit(t, given().browser, registry.address('/companies/7'))
    await page.getByRole('button', { name: 'Look back' }).click()
    await page.getByRole('link', { name: 'What changed between two versions' }).click()
    await page
      .getByText(/active\s*→\s*dissolved/)
      .first()
      .waitFor()
    await page.getByRole('combobox', { name: 'Earlier version' }).selectOption('2')
    const part = page.locator('.difference', { hasText: 'Employees' })
    await part.getByText('Ann').waitFor()
    assert.deepEqual(
      (await part.innerText()).split(/\s*\n\s*/).filter((line) => line !== ''),
      ['Employees', 'Changed 1', 'Ann Director', 'Position', 'Clerk→ Director'].concat([
        'New 1',
        'Cas Clerk',
        'Gone 1',
        'Bob Clerk',
      ]),
    )
    await page.getByRole('combobox', { name: 'Later version' }).selectOption('2')
    await page.getByText('Nothing changed.').waitFor()
  })

  test('where a listing has not changed since, that is said', async (t) => {
    const registry = await makeHistory(t)
    const page = await visit(
      ...([t, given().browser, registry.address('/companies/7/employees?version=4')] as const),
    )
    await page.getByText('Nothing here differs from now.').waitFor()
  })

  test('to now and back to a version by the browser marks what differs, each time', async (t) => {
    const registry = await makeHistory(t)
    const address = registry.address('/companies/7/employees?version=2')
    const page = await visit(t, given().browser, address)
    const said = page.locator('.marks-note')
    await said.waitFor()
    for (let turn = 0; turn < 5; turn += 1) {
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
