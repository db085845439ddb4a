// Download and share: what the page gives away is what the API says, and never the key.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { makeRights } from '../support/rights-store.ts'
import { askDemo, bench, holdAnswers, untilLoaded, visit, visitDemo } from './browser.ts'
import { serveRegistry } from './own-registry.ts'

const shell = promisify(execFile)

export function testTaking(): void {
  test('a link leads another person, with a key of their own, to the same view', async (t) => {
    const { key, url } = bench()
    const page = await visitDemo(t, '/companies/1/rights?status=pending&page=2')
    await page.getByText('26–43 of 43').waitFor()
    await page.getByRole('button', { name: 'Download and share' }).click()
    const link = await page.getByRole('textbox', { name: 'Link to this view' }).inputValue()
    assert.equal(link, `${url}/#/companies/1/rights?status=pending&page=2`)
    const other = await visit(t, link)
    await other.getByLabel('Your key').fill(key)
    await other.keyboard.press('Enter')
    await other.getByText('26–43 of 43').waitFor()
  })

  test('the command and the code get what is shown, with the key in a variable', async (t) => {
    const { key } = bench()
    const page = await visitDemo(t, '/companies/1/rights?status=pending&sort=-name')
    await page.getByRole('button', { name: 'Download and share' }).click()
    const curl = await page.getByRole('textbox', { name: 'curl' }).inputValue()
    const code = await page.getByRole('textbox', { name: 'fetch, for JavaScript' }).inputValue()
    assert.ok(!`${curl}${code}`.includes(key))
    const hidden =
      '[...document.querySelectorAll("textarea")].map((one) => one.scrollHeight - one.clientHeight)'
    assert.deepEqual(await page.evaluate(hidden), [0, 0, 0], 'all of it is in sight')
    const { stdout } = await shell('sh', ['-c', `${curl} -s`], {
      env: { ...process.env, KEY: key },
    })
    const { rights } = JSON.parse(stdout) as { rights: { id: number }[] }
    const cells = page.locator('tbody td:first-child')
    const texts = await cells.allInnerTexts()
    const expected = rights.map(({ id }) => String(id))
    assert.deepEqual(texts, expected)
    const [, requested] = /fetch\("([^"]+)"/.exec(code) ?? []
    assert.ok(curl.includes(String(requested)))
  })

  test('downloads are what the API answers, of this page and of all', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?status=pending')
    await page.getByRole('button', { name: 'Download and share' }).click()
    for (const [name, query, file] of [
      ['Download CSV: This page, 25', 'page=1&limit=25&format=csv', 'rights-1.csv'],
      ['Download NDJSON: All matching records, 43', 'limit=all&format=ndjson', 'rights-1.ndjson'],
    ] as const) {
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), file)
      const answer = await askDemo(`companies/1/rights?status=pending&${query}`)
      assert.equal(readFileSync(await download.path(), 'utf8'), answer)
    }
  })

  test('two simultaneous downloads each show their progress', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?status=pending', { expected: /500/ })
    await untilLoaded(page)
    const release = await holdAnswers(page, /format=ndjson/)
    await page.route(/format=csv/, (route) => route.fulfill({ status: 500 }))
    await page.getByRole('button', { name: 'Download and share' }).click()
    const status = page.locator('.downloads [role=status] > div')
    await page.getByRole('button', { name: 'Download NDJSON: All matching records, 43' }).click()
    await page.getByRole('button', { name: 'Download CSV: This page, 25' }).click()
    await status.getByText('The download failed.').waitFor()
    const told = (await status.allInnerTexts()).map((text) => text.split('\n')[0])
    assert.deepEqual(told, [
      'NDJSON: All matching records, 43. Downloading …',
      'CSV: This page, 25. The download failed.',
    ])
    const downloading = page.waitForEvent('download')
    await release()
    await downloading
    await status.getByText('Downloading …').waitFor({ state: 'detached' })
    assert.equal(await status.count(), 1)
  })

  test('a download runs once at a time, and one with other filters beside it', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?status=expired')
    await page.getByText('1–25 of 37').waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const release = await holdAnswers(page, /format=csv/)
    const opener = page.getByRole('button', { name: 'Download and share' })
    const button = page.getByRole('button', { name: 'Download CSV: This page, 25' })
    const status = page.locator('.downloads [role=status] > div')
    await opener.click()
    await button.click()
    await status.getByText('Downloading …').waitFor()
    await button.click({ force: true })
    await opener.click()
    await page.evaluate('location.hash = "#/companies/1/rights?status=opposed"')
    await page.getByText('1–25 of 38').waitFor()
    await opener.click()
    await button.click()
    await status.nth(1).getByText('Downloading …').waitFor()
    const files = () => asked.filter((url) => url.includes('format=csv'))
    assert.equal(files().length, 2)
    await release()
    await status.first().waitFor({ state: 'detached' })
    await button.click()
    await status.first().waitFor({ state: 'detached' })
    assert.equal(files().length, 3)
  })

  test('a download waits for its turn, and says so; a revoked key is reported, too', async (t) => {
    const registry = await serveRegistry(t, makeRights(40).records)
    const key = await registry.store.issueKey({ name: 'rated', rate: '20/5s' })
    const expected = /status of 4\d\d/
    const page = await registry.visit('/companies/1/rights', { key, expected })
    await page.getByText('1–25 of 40').waitFor()
    await untilLoaded(page)
    const headers = { authorization: `Bearer ${key}` }
    const url = `http://127.0.0.1:${registry.port}/api/v1/key`
    while ((await fetch(url, { headers })).status === 200);
    await page.getByRole('button', { name: 'Download and share' }).click()
    const button = page.getByRole('button', { name: 'Download CSV: All matching records, 40' })
    const downloading = page.waitForEvent('download')
    await button.click()
    await page.getByText('This key has no requests left for now.').waitFor()
    assert.equal((await downloading).suggestedFilename(), 'rights-1.csv')
    await page.getByText('This key has no requests left').waitFor({ state: 'detached' })
    await registry.store.revokeKey('rated')
    // Keys are remembered for half a second.
    await page.waitForTimeout(1_000)
    await button.click()
    await page.getByText('The service does not accept this key.').waitFor()
    // Also where the menu was closed meanwhile.
    const opener = page.getByRole('button', { name: 'Download and share' })
    await opener.click()
    await opener.click()
    await page.getByText('The download failed.').waitFor()
    await page.getByRole('button', { name: 'Use another key' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  test('links and commands have the version that is shown, and offer the present one', async (t) => {
    const { url } = bench()
    const page = await visitDemo(t, '/companies/1/rights?status=pending')
    const valueOf = (name: string) => page.getByRole('textbox', { name }).inputValue()
    const opener = page.getByRole('button', { name: 'Download and share' })
    await opener.click()
    assert.doesNotMatch(await valueOf('curl'), /version/)
    await page.getByRole('button', { name: 'Copy: curl' }).click()
    const told = page.getByText('Your key is not included: set it in the variable KEY.')
    await told.waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: /^Pin to version 6/ }).check()
    // What was copied is no longer what the field has.
    await told.waitFor()
    const link = `${url}/#/companies/1/rights?status=pending&version=6`
    assert.equal(await valueOf('Link to this view'), link)
    for (const name of ['curl', 'fetch, for JavaScript']) {
      assert.match(await valueOf(name), /rights\?status=pending&page=1&limit=25&version=6['"]/)
    }
    await page.evaluate('location.hash = "#/companies/1?version=5"')
    await page.getByText('You are looking at the past: Version 5').waitFor()
    await opener.click()
    assert.equal(await page.getByRole('checkbox', { name: /^Pin to version/ }).count(), 0)
    assert.equal(await valueOf('Link to this view'), `${url}/#/companies/1?version=5`)
    assert.match(await valueOf('curl'), /companies\/1\?version=5'$/)
  })
}
