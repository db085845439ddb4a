// Finding a company: the key, the search, and what the tab remembers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { askDemo, bench, holdAnswers, untilLoaded, visit, visitDemo } from './browser.ts'
import { makeRecords } from '../support/make-record.ts'
import { serveRegistry } from './own-registry.ts'

export function testFinding(): void {
  test('the address that the demo prints opens a company, and the key leaves it', async (t) => {
    const { printed, key } = bench()
    const page = await visit(t, printed)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.getByRole('heading', { level: 1, name: 'Ploverhollow Software Ltd' }).waitFor()
    assert.equal(await page.getByText('If nothing else appears').count(), 0)
    assert.equal(new URL(page.url()).hash, '#/companies/1')
    await page.getByRole('link', { name: /^Employees 140/ }).click()
    await page
      .getByRole('row', { name: /Priya von der Au/ })
      .first()
      .waitFor()
    assert.ok(asked.length > 0)
    for (const url of [...asked, page.url()]) assert.ok(!url.includes(key), url)
    const kept = 'JSON.stringify([{ ...localStorage }, document.cookie, { ...sessionStorage }])'
    assert.ok(!String(await page.evaluate(kept)).includes(key))
    await page.goBack()
    assert.ok(!page.url().includes(key))
  })

  test('an address that changes as the page appears is followed', async (t) => {
    const page = await visit(t, `${bench().url}/docs/guide`)
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector('.masthead') === null) return
      observer.disconnect()
      location.hash = '#/companies/1/rights'
    }).observe(document, { childList: true, subtree: true })`)
    await page.goto(bench().at('/companies/1'))
    await page.getByText('1–25 of 230').waitFor()
  })

  test('an address with a key that is pasted counts more than one that is still being checked', async (t) => {
    const { printed, url } = bench()
    const page = await visit(t, `${url}/`, { expected: /status of 403/ })
    const release = await holdAnswers(page, /v1\/key$/)
    await page.getByLabel('Your key').fill('dossier_wrong')
    await page.keyboard.press('Enter')
    await page.evaluate(`location.href = ${JSON.stringify(printed)}`)
    await page.getByRole('heading', { name: 'Ploverhollow Software Ltd' }).waitFor()
    assert.equal(new URL(page.url()).hash, '#/companies/1')
    await release()
    await page
      .getByRole('link', { name: /^Rights/ })
      .first()
      .click()
    await page.getByText('1–25 of 230').waitFor()
    await untilLoaded(page)
    assert.equal(await page.getByLabel('Your key').count(), 0)
  })

  test('the page works where a browser blocks storage and channels', async (t) => {
    const { printed } = bench()
    const page = await visit(t, 'about:blank')
    await page.addInitScript(`
      const refuse = () => {
        throw new DOMException('The operation is insecure.', 'SecurityError')
      }
      Object.defineProperty(window, 'sessionStorage', { get: refuse })
      BroadcastChannel = class { constructor() { refuse() } }`)
    await page.goto(printed)
    await page.getByRole('heading', { name: 'Ploverhollow Software Ltd' }).waitFor()
    await page.getByRole('button', { name: 'Forget key' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  test('a wrong key gets a sentence; the right one is kept only by choice', async (t) => {
    const { url, key } = bench()
    const page = await visit(t, `${url}/`, { expected: /status of 403/ })
    const field = page.getByLabel('Your key')
    await field.fill('dossier_wrong')
    await field.press('Enter')
    await page.getByText('The service does not accept this key.').waitFor()
    await field.fill('two words')
    await field.press('Enter')
    await page.getByText('This cannot be a key').waitFor()
    await field.fill(key)
    await field.press('Enter')
    await page.getByRole('searchbox').waitFor()
    await page.reload()
    await field.fill(key)
    await page.getByLabel('Keep it for this browser session').check()
    await field.press('Enter')
    await page.getByRole('searchbox').waitFor()
    await page.reload()
    await page.getByRole('searchbox').waitFor()
    await page.getByRole('button', { name: 'Forget key' }).click()
    await field.waitFor()
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
  })

  test('after the key is entered, readers by keyboard are at what the address shows', async (t) => {
    const { url, key } = bench()
    const page = await visit(t, `${url}/#/companies/1/rights`)
    await page.getByLabel('Your key').waitFor()
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.getByText('1–25 of 230').waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  })

  test('companies are found by words of their name, by keyboard alone', async (t) => {
    const page = await visitDemo(t, '/')
    await page.getByRole('searchbox').waitFor()
    await page.keyboard.type('ploverhollow')
    await page.getByRole('link', { name: /Ploverhollow Software Ltd/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /^Ploverhollow/ }).waitFor()
    await page.getByRole('link', { name: 'Dossier' }).click()
    await page.getByText('Recently opened in this tab').waitFor()
    await page.getByRole('link', { name: /Ploverhollow/ }).waitFor()
  })

  test('and by their number, with or without its register', async (t) => {
    const page = await visitDemo(t, '/')
    const field = page.getByRole('searchbox')
    for (const number of ['10015838', 'GB:10015838']) {
      await field.fill(number)
      await page.getByRole('link', { name: /Foods plc GB 10015838$/ }).waitFor()
    }
    await field.fill('no company has such a name')
    await page.getByText('No company has this name or number.').waitFor()
    await field.fill('10015838')
    await page.getByRole('link', { name: /Foods plc GB 10015838$/ }).waitFor()
    await field.press('Enter')
    await page.getByRole('link', { name: /^Events 250,000/ }).waitFor()
    // From one company to another, readers by keyboard arrive at what they have opened.
    await page.keyboard.press('/')
    await page.keyboard.type('10007919')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: /^Rights 230/ }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  })

  test('a number is found as the page shows it, with its register and with its blanks', async (t) => {
    const registry = await serveRegistry(t)
    const number = { jurisdiction: 'DE', identifier: 'HRB 86891' }
    const others = [
      { id: 42, jurisdiction: 'SA', identifier: '٧٠٠', name: 'Hilal' },
      { id: 43, jurisdiction: 'XX', identifier: 'acme', name: 'Pier 42' },
    ]
    await registry.load('companies', [{ ...number, name: 'Nordwind GmbH' }, ...others])
    const page = await registry.visit('/')
    const field = page.getByRole('searchbox')
    const find = async (words: string, name: string) => {
      await field.fill('nobody')
      await page.getByText('No company has this name or number.').waitFor()
      await field.fill(words)
      await page.getByRole('link', { name }).waitFor()
    }
    for (const words of ['HRB 86891', 'DE HRB 86891', 'DE:HRB 86891', 'de HRB 86891'])
      await find(words, 'Nordwind GmbH DE HRB 86891')
    await find('٧٠٠', 'Hilal SA ٧٠٠')
    await find('XX:acme', 'Pier 42 XX acme')
    // An ID, although another company has it in its name.
    await find('42', 'Hilal SA ٧٠٠')
  })

  test('a company that no register names is found by its ID', async (t) => {
    const registry = await serveRegistry(t, [
      { resource: rights, company: 70, records: makeRecords(rights, 3) },
    ])
    const page = await registry.visit('/', { expected: /status of 404/ })
    const field = page.getByRole('searchbox')
    await field.fill('71')
    await page.getByText('No company has this name or number.').waitFor()
    await field.fill('70')
    await page.getByRole('link', { name: 'Company 70', exact: true }).waitFor()
    await field.press('Enter')
    await page.getByRole('link', { name: /^Rights 3/ }).waitFor()
  })

  test('a long text that is pasted into the search gets a sentence about its length', async (t) => {
    const page = await visitDemo(t, '/', { expected: /status of 400/ })
    await page.getByRole('searchbox').fill('ö'.repeat(20_000))
    await page.getByText(/^q is .* it takes a text of 1 to 256 characters\.$/).waitFor()
  })

  test('Enter opens what the present words have found, not what earlier ones had', async (t) => {
    const page = await visitDemo(t, '/')
    // Answers take longer than it takes to press Enter.
    await page.route(/api\/v1\/companies\?/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      await route.continue()
    })
    const field = page.getByRole('searchbox')
    await field.fill('10015838')
    await page.getByRole('link', { name: /Foods plc GB 10015838$/ }).waitFor()
    await field.fill('10007919')
    await field.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Ploverhollow Software Ltd' }).waitFor()
  })

  test('Back leads to the results, and a Ctrl-click leaves them in sight', async (t) => {
    const page = await visitDemo(t, '/')
    await page.getByRole('searchbox').fill('ploverhollow')
    // Beside it, the company is among those that were opened before.
    const results = page.locator('.results')
    const found = results.getByRole('link', { name: /Ploverhollow Software Ltd/ })
    const opened = page.context().waitForEvent('page')
    await found.click({ modifiers: ['Control'] })
    await (await opened).close()
    await found.click()
    await page.getByRole('heading', { level: 1, name: /^Ploverhollow/ }).waitFor()
    await page.goBack()
    await found.waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), 'ploverhollow')
    await page.getByRole('link', { name: 'Dossier' }).click()
    await results.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('searchbox').inputValue(), '')
  })

  test('the search continues beyond the first 20 companies, by keyboard, too', async (t) => {
    const { total } = JSON.parse(await askDemo('companies?q=ltd&limit=1')) as { total: number }
    assert.ok(total > 100)
    const page = await visitDemo(t, '/')
    await page.getByRole('searchbox').fill('ltd')
    await page.getByText(`The first 20 of ${total} companies`).waitFor()
    const links = page.locator('.companies a')
    await links.last().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText(`The first 100 of ${total} companies`).waitFor()
    await page.keyboard.press('ArrowDown')
    const focused = 'document.activeElement.getAttribute("href")'
    assert.equal(await page.evaluate(focused), await links.nth(20).getAttribute('href'))
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText(`${total} companies`, { exact: true }).waitFor()
    assert.equal(await links.count(), total)
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0)
  })

  test('the key field has the focus, / leads to the search, and the guide is linked', async (t) => {
    const { url, key } = bench()
    // The browser shows the guide, a text, and asks for an icon of it.
    const page = await visit(t, `${url}/`, { expected: /status of 404/ })
    await page.getByLabel('Your key').waitFor()
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.getByRole('searchbox').waitFor()
    await page.evaluate('location.hash = "#/companies/1"')
    await page.getByRole('heading', { name: 'Ploverhollow Software Ltd' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('northwind/')
    assert.equal(await page.getByRole('searchbox').inputValue(), 'northwind/')
    await page.goto(`${url}/`)
    await page.getByRole('link', { name: /^Guide/ }).click()
    await page.waitForURL(`${url}/docs/guide`)
  })

  test('a key that is forgotten does not come back from a tab that keeps it; another key stays', async (t) => {
    const registry = await serveRegistry(t)
    const kept = await registry.visit('/')
    const same = await registry.visit('/')
    const other = await registry.visitWith({ name: 'other' }, '/')
    for (const tab of [kept, other]) await tab.getByRole('button', { name: 'Keep key' }).click()
    await other.getByRole('button', { name: 'Forget key' }).click()
    await other.getByLabel('Your key').waitFor()
    await kept.reload()
    await kept.getByRole('searchbox').waitFor()
    await same.getByRole('button', { name: 'Forget key' }).click()
    for (const tab of [same, kept]) {
      await tab.getByLabel('Your key').waitFor()
      await tab.reload()
      await tab.getByLabel('Your key').waitFor()
    }
  })

  test('a kept key stays with its service where one host has another one, too', async (t) => {
    const { printed, url } = bench()
    const page = await visit(t, printed)
    await page.getByRole('button', { name: 'Keep key' }).click()
    const other = await visit(t, 'about:blank')
    for (const tab of [other, page]) {
      await tab.route(/\/other\//, (route) =>
        route.continue({ url: route.request().url().replace('/other/', '/') }),
      )
      await tab.goto(`${url}/other/`)
      await tab.getByLabel('Your key').waitFor()
    }
    await page.goto(`${url}/`)
    await page.getByText('Recently opened in this tab').waitFor()
  })

  test('a kept key works in a tab that a Ctrl-click opens; forgetting it in one tab forgets it in all', async (t) => {
    const { browser, printed } = bench()
    const page = await visit(t, printed)
    const open = async () => {
      const opened = browser.waitForEvent('page')
      await page
        .getByRole('link', { name: /^Rights/ })
        .first()
        .click({ modifiers: ['Control'] })
      const other = await opened
      t.after(() => other.close())
      return other
    }
    // The demo's address brings a key, but nobody has said that it is kept.
    const without = await open()
    await without.getByLabel('Your key').waitFor()
    await page.getByRole('button', { name: 'Keep key' }).click()
    const other = await open()
    await other.getByText('1–25 of 230').waitFor()
    assert.match(other.url(), /#\/companies\/1\/rights$/)
    await other.reload()
    await other.getByText('1–25 of 230').waitFor()
    await other.getByRole('button', { name: 'Forget key' }).click()
    for (const tab of [page, other]) {
      await tab.getByLabel('Your key').waitFor()
      assert.equal(await tab.evaluate('sessionStorage.length'), 0)
    }
  })
}
