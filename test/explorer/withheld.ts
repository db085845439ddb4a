// The past of a company of which something was withheld later (13).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withhold } from '../support/write-store.ts'
import { makeHistory } from './versions.ts'

export function testWithheld(): void {
  test('what differs is told of versions before one that withheld something (13)', async (t) => {
    const registry = await makeHistory(t)
    await withhold(registry.store.db, 'mask', { resource: 'employees', id: 1 })
    const page = await registry.visit('/companies/7/employees?version=2')
    await page.getByText('Compared with now: 1 changed, 1 gone, 1 new since.').waitFor()
    await page.getByRole('link', { name: /^Employees 2\s+Changed since$/ }).waitFor()
    await page.evaluate('location.hash = "#/companies/7/employees?version=4"')
    await page.getByText('Nothing here differs from now.').waitFor()
    await page.getByRole('link', { name: /^Employees 2\s+Changed since$/ }).waitFor()
    await page.evaluate('location.hash = "#/companies/7/differences?from=2&to=4"')
    const part = page.locator('.difference', { hasText: 'Employees' })
    await part.getByText('Gone 1').waitFor()
    await page.evaluate('location.hash = "#/companies/7/differences?from=4&to=5"')
    await page
      .getByText(/active\s*→\s*dissolved/)
      .first()
      .waitFor()
    assert.equal(await part.count(), 0)
  })

  test('the slider is at a version before one that withheld something (13)', async (t) => {
    const registry = await makeHistory(t)
    await withhold(registry.store.db, 'mask', { resource: 'employees', id: 1 })
    const page = await registry.visit('/companies/7/employees?version=4')
    await page.getByRole('button', { name: 'Other versions' }).click()
    const slider = page.getByRole('slider')
    await slider.waitFor()
    for (const version of [4, 3, 2]) {
      await page.getByText(`You are looking at the past: Version ${version},`).waitFor()
      const said = await slider.getAttribute('aria-valuetext')
      assert.equal(said?.split(' · ')[0], `Version ${version}`)
      await page.getByRole('button', { name: 'Earlier version' }).click()
    }
  })
}
