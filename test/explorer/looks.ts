// For everybody: no fault that axe knows, nothing to scroll sideways on narrow screens and at 200 %
// zoom, print, and the reference page under the same policy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAccessible } from './accessibility.ts'
import { type Bench, overflowOf, untilLoaded, visit } from './browser.ts'

/** Every kind of view; the last ones open something. */
const views = [
  '/',
  '/companies/1',
  '/companies/1/rights?status=pending',
  '/companies/1/employees',
  '/companies/1/jobs',
  '/companies/1/pos_terminals',
  '/companies/1/events',
  '/companies/1/differences?from=2&to=6',
  '/companies/1/employees?version=3',
]

export function testLooks(given: () => Bench): void {
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 320],
  ] as const) {
    test(`every view is accessible, ${scheme}, ${width} px wide`, async (t) => {
      const { browser, printed } = given()
      const page = await visit(t, browser, printed, { scheme, width })
      for (const view of views) {
        await page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`)
        await untilLoaded(page)
        assert.ok((await overflowOf(page)) <= 0, `${view} is wider than the window`)
        await checkAccessible(page, view)
      }
      for (const menu of ['Download and share', 'Position', 'Start date']) {
        await page.locator('.opener', { hasText: menu }).click()
        await checkAccessible(page, menu)
        await page.keyboard.press('Escape')
        assert.equal(await page.locator('.panel').count(), 0)
      }
    })
  }

  test('the page without a key is accessible', async (t) => {
    const { browser, url } = given()
    const page = await visit(t, browser, `${url}/`)
    await page.getByLabel('Your key').waitFor()
    await checkAccessible(page, 'the field for a key')
  })

  test('at 200 % zoom nothing is cut off', async (t) => {
    const { browser, printed } = given()
    // A window of 1280 pixels at 200 % has 640 pixels of CSS.
    const page = await visit(t, browser, printed, { width: 640, height: 450 })
    for (const view of views) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`)
      await untilLoaded(page)
      assert.ok((await overflowOf(page)) <= 0, view)
    }
  })

  test('the first stop of the keyboard skips to the content', async (t) => {
    const { browser, printed } = given()
    const page = await visit(t, browser, printed)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
    assert.match(page.url(), /#\/companies\/1$/)
  })

  test('print has the records and their picture, without controls', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/1/rights'))
    await page.getByText('1–25 of 230').waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.ok(await page.getByRole('table').isVisible())
    assert.ok(!(await page.getByRole('button', { name: 'Download and share' }).isVisible()))
    assert.ok(!(await page.getByRole('searchbox').isVisible()))
  })

  test('the reference page works under its policy, and leads to the explorer and back', async (t) => {
    const { browser, url, key } = given()
    const page = await visit(t, browser, `${url}/`)
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.getByLabel('auth-bearer-value').fill(key)
    await page.getByRole('button', { name: 'Apply credentials' }).click()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByText('/api/v1/key').first().click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.getByText('demo-').first().waitFor()
    await page.getByRole('link', { name: 'Explorer' }).click()
    await page.getByLabel('Your key').waitFor()
  })
}
