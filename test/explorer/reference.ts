// The API reference at /docs, where people try requests.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bench, overflowOf, visit } from './browser.ts'

export function testReference(): void {
  test('the operations of the reference can be executed as they open, under its policy', async (t) => {
    const { url, key } = bench()
    // The demo offers no copies, so that their manifest and files are not found.
    const page = await visit(t, `${url}/`, { expected: /status of 404/ })
    // Its animations take a third of the browser's time.
    const protocol = await page.context().newCDPSession(page)
    await protocol.send('Animation.enable')
    await protocol.send('Animation.setPlaybackRate', { playbackRate: 1_000 })
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.getByLabel('auth-bearer-value').fill(key)
    await page.getByRole('button', { name: 'Apply credentials' }).click()
    await page.locator('.auth-container').getByRole('button', { name: 'Close' }).click()
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Readonly<Record<string, { get: { operationId: string; tags: readonly string[] } }>>
    }
    // Each takes seconds here; those of a resource differ in their fields only.
    const left = ['employees', 'jobs', 'pos_terminals']
    for (const [path, { get }] of Object.entries(paths)) {
      if (left.some((name) => path.endsWith(`/${name}`))) continue
      const status = path.includes('/exports/') ? 404 : 200
      const block = page.locator(`#operations-${get.tags[0] ?? ''}-${get.operationId}`)
      await block.locator('.opblock-summary-control').click()
      const answered = page.waitForResponse(/\/(?:api\/v1\/|healthz|readyz)/)
      await block.getByRole('button', { name: 'Execute' }).click()
      const answer = await answered
      assert.equal(answer.status(), status, answer.url())
      await block.locator('.live-responses-table').getByText(String(status)).first().waitFor()
      await block.locator('.opblock-summary-control').click()
    }
    const guide = await page.getByRole('link', { name: /^Guide/ }).getAttribute('href')
    assert.equal(new URL(guide ?? '', page.url()).href, `${url}/docs/guide`)
    await page.getByRole('link', { name: 'Explorer' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  test('the reference is narrow enough for a phone, with an operation open', async (t) => {
    const url = `${bench().url}/docs#/listings/export_listing`
    // A warning about the address of the operation, which has an underscore.
    const page = await visit(t, url, { width: 360, expected: /escaping deep link/ })
    await page.locator('.is-open .responses-table').waitFor()
    assert.ok((await overflowOf(page)) <= 0, 'the reference is wider than the window')
  })

  test('the reference has the colors that the system has, also if these change', async (t) => {
    const page = await visit(t, `${bench().url}/docs`, { scheme: 'dark' })
    const style = `getComputedStyle(document.querySelector('nav'))`
    const background = () => page.evaluate(`${style}.backgroundColor`)
    assert.equal(await background(), 'rgb(28, 32, 34)')
    await page.emulateMedia({ colorScheme: 'light' })
    await page.locator('html:not(.dark-mode)').waitFor()
    assert.equal(await background(), 'rgba(0, 0, 0, 0)')
  })
}
