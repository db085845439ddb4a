// What goes wrong is a sentence that says what to do, and what was shown stays where it can.

import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openPort } from '../support/free-port.ts'
import { makeRights } from '../support/rights-store.ts'
import { withhold } from '../support/write-store.ts'
import { until } from '../support/until.ts'
import { bench, untilLoaded, visit, visitDemo } from './browser.ts'
import { serveRegistry } from './own-registry.ts'

const refused = /status of 4\d\d/

export function testErrors(): void {
  test('a company that does not exist has no past to look at; an address may make no sense', async (t) => {
    const page = await visitDemo(t, '/companies/99999', { expected: refused })
    await page.getByText('Company 99999 is not in the registry.', { exact: true }).waitFor()
    assert.deepEqual(await page.getByRole('definition').allTextContents(), ['99999'])
    assert.deepEqual(await page.getByRole('term').allTextContents(), ['ID'])
    await page.getByText('Now · Version 6,').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Look back' }).count(), 0)
    await page.getByRole('link', { name: 'Find another company' }).click()
    await page.getByRole('searchbox').waitFor()
    await page.evaluate('location.hash = "#/companies/1/rights?statsu=x"')
    await page.getByText(/did you mean status\?/).waitFor()
    await page.evaluate('location.hash = "#/companies/1/nothing"')
    await page.getByText('There is no such section.').waitFor()
    await page.evaluate('location.hash = "#/companies/99999?version=3"')
    await page.getByRole('link', { name: 'Back to now' }).waitFor()
    // It is shown until the answer has come.
    await page.getByRole('button', { name: 'Other versions' }).waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('link', { name: 'What has changed since' }).count(), 0)
  })

  test('an address that is not understood has a way out of it', async (t) => {
    const page = await visitDemo(t, '/', { expected: refused })
    const said = page.getByText('The service does not understand this address.')
    for (const [view, way, to] of [
      ['/companies/1/rights?sort=bad', 'Reset the view', '/companies/1/rights'],
      ['/companies/1/rights?limit=5000', 'Reset the view', '/companies/1/rights'],
      [`/companies/1/rights?status=${'x'.repeat(20_000)}`, 'Reset the view', '/companies/1/rights'],
      ['/companies/1/rights?color=red', 'Reset the view', '/companies/1/rights'],
      ['/companies/1/rights?page=x', 'Reset the view', '/companies/1/rights'],
      ['/companies/1/rights?page=0&version=6', 'Reset the view', '/companies/1/rights?version=6'],
      ['/companies/1/jobs?salary_from[gte]=x', 'Reset the view', '/companies/1/jobs'],
      ['/companies/1/jobs?sort=x&version=6', 'Reset the view', '/companies/1/jobs?version=6'],
      ['/companies/1?version=x', 'Reset the view', '/companies/1'],
      ['/companies/1?versoin=5', 'Reset the view', '/companies/1'],
      ['/companies/1/print?page=2&version=6', 'Reset the view', '/companies/1/print?version=6'],
      ['/companies/1/differences?from=x&to=6', 'Reset the view', '/companies/1/differences'],
      ['/companies/x', 'Find another company', '/'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`)
      await said.waitFor()
      const filters = await page.locator('.chip').count()
      const canClear = await page.getByRole('button', { name: 'Clear filters' }).count()
      assert.equal(canClear > 0, filters > 0, view)
      await page.getByRole('link', { name: way }).click()
      await said.waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).hash, `#${to}`)
      await untilLoaded(page)
    }
  })

  test('an address that the API answers with a file shows the same data', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?format=csv&limit=all&status=pending')
    await page.getByText('1–25 of 43 (230 without filters)').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('1–25 of 230', { exact: true }).waitFor()
    assert.equal(new URL(page.url()).hash, '#/companies/1/rights')
    await page.evaluate('location.hash = "#/companies/1?format=ndjson"')
    await page.getByRole('heading', { name: 'What each source says' }).waitFor()
  })

  test('a page of which a file does not arrive is not blank', async (t) => {
    const page = await visit(t, 'about:blank', { expected: /ERR_FAILED/ })
    await page.route(/hooks$/, (route) => route.abort())
    await page.goto(bench().at('/companies/1'))
    await page.getByText('If nothing else appears, reload this page.').waitFor()
  })

  test('a key that is revoked meanwhile asks for another one', async (t) => {
    const registry = await serveRegistry(t, makeRights(40).records)
    const page = await registry.visitWith({ name: 'short' }, '/companies/1/rights', {
      expected: refused,
    })
    await page.getByText('1–25 of 40').waitFor()
    await registry.store.revokeKey('short')
    // Keys are remembered for half a second.
    await page.waitForTimeout(1_000)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('The service does not accept this key.').waitFor()
    await page.evaluate('location.hash = "#/?q=other"')
    await page.getByText('The service does not accept this key.').waitFor()
    await page.getByRole('button', { name: 'Use another key' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  test('a key without some scopes shows what it may, which browsers print as it is', async (t) => {
    const page = await visitNarrow(t, '/companies/1/rights')
    await page.getByText('1–3 of 3').waitFor()
    await page.getByRole('heading', { name: 'Company 1' }).waitFor()
    await page.evaluate(`addEventListener('keydown', (event) => {
      if (event.key === 'p') isTaken = event.defaultPrevented
    })`)
    await page.keyboard.press('Control+p')
    assert.equal(await page.evaluate('isTaken'), false)
    assert.equal(new URL(page.url()).hash, '#/companies/1/rights')
    await page.getByRole('button', { name: 'Download and share' }).click()
    await page.getByRole('textbox', { name: 'Link to this view' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Print the whole company' }).count(), 0)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Jobs' }).click()
    await page.getByText('This key may not read this.').waitFor()
  })

  test('with a key that may not see companies, a missing one is reported once', async (t) => {
    const page = await visitNarrow(t, '/')
    let requests = 0
    page.on('request', () => (requests += 1))
    await page.evaluate('location.hash = "#/companies/99/rights"')
    await page.getByText('Company 99 is not in the registry.').waitFor()
    await untilLoaded(page)
    assert.ok(requests <= 10, `${requests} requests`)
  })

  test('without an answer about versions, the page says so', async (t) => {
    const page = await visitDemo(t, '/', { expected: /ERR_FAILED/ })
    await page.route(/versions\?/, (route) => route.abort())
    await page.evaluate('location.hash = "#/companies/1/differences"')
    await page.getByText('The service cannot be reached. The page retries by itself.').waitFor()
    await page.getByRole('link', { name: /^Rights 230/ }).waitFor()
    await page.unroute(/versions\?/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'New 120' }).waitFor()
  })

  test('a key that may not search says so, and opens a company by its number', async (t) => {
    const page = await visitNarrow(t, '/')
    await page.getByRole('searchbox').fill('1')
    await page.getByText('This key may not search for companies.').waitFor()
    await page.getByRole('searchbox').fill('DE:HRB 1')
    await page.getByRole('link', { name: 'Company DE:HRB 1' }).waitFor()
    await page.getByRole('searchbox').fill('1')
    assert.equal(await page.getByText('Searching …').count(), 0)
    await page.getByRole('link', { name: 'Company 1' }).click()
    await page.getByRole('link', { name: 'Rights' }).click()
    await page.getByText('1–3 of 3').waitFor()
    await untilLoaded(page)
    await page.getByRole('link', { name: 'Dossier' }).click()
    await page.getByRole('searchbox').fill('1')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Company 1' }).waitFor()
  })

  test('without requests left it waits, says so, and continues by itself', async (t) => {
    const registry = await serveRegistry(t, makeRights(9).records)
    const rated = { name: 'rated', rate: '2/3s' }
    const page = await registry.visitWith(rated, '/companies/1/rights', { expected: refused })
    await page
      .getByText(/This key has no requests left for now\. The page continues by itself/)
      .first()
      .waitFor()
    await page.getByText('1–9 of 9').waitFor()
    await page.getByText(/no requests left/).waitFor({ state: 'detached' })
  })

  test('the form, too, says that a key without requests left has to wait', async (t) => {
    const registry = await serveRegistry(t, makeRights(9).records)
    const key = await registry.store.issueKey({ name: 'rated', rate: '1/3s' })
    const page = await registry.visit('/', { key: '', expected: refused })
    await page.getByLabel('Your key').fill(key)
    const open = page.getByRole('button', { name: 'Open' })
    await open.click()
    await page.getByRole('searchbox').waitFor()
    await page.getByRole('button', { name: 'Forget key' }).click()
    await page.getByLabel('Your key').fill(key)
    await open.click()
    await page.getByText('This key has no requests left for now.').waitFor()
    await page.getByRole('searchbox').waitFor()
  })

  test('an answer that breaks off counts as none, and is requested again', async (t) => {
    const registry = await serveRegistry(t, makeRights(40).records)
    const proxy = await startProxy(t, registry.port)
    const view = `/#key=${registry.key}/companies/1/rights`
    const expected = /ERR_(INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH)/
    const page = await visit(t, proxy.url + view, { expected })
    await page.getByText('1–25 of 40').waitFor()
    await untilLoaded(page)
    proxy.cutNext('page=2')
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText(/^The service cannot be reached\. This is what was loaded at/).waitFor()
    await page.getByText('26–40 of 40').waitFor()
  })

  test('a pruned version leads back to now, and withheld data nowhere', async (t) => {
    const registry = await serveRegistry(t)
    for (const name of ['One', 'Two']) {
      await registry.load('companies', [{ id: 1, jurisdiction: 'GB', identifier: '1', name }])
    }
    await registry.store.prune()
    const page = await registry.visit('/companies/1?version=1', {
      expected: refused,
    })
    await page.getByText('This version is no longer kept.').waitFor()
    // Nothing is still to come.
    await page.getByText('…').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Back to now' }).click()
    await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor()
    // A company that is withheld meanwhile is gone, with its name.
    await withhold(registry.store.db, 'erase', { company: ['GB', '1'] })
    await page.getByRole('link', { name: 'Rights' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Company 1' }).waitFor()
    const kept = await page.evaluate('JSON.stringify({ ...sessionStorage })')
    assert.doesNotMatch(String(kept), /One|Two/)
  })

  test('a page that was open while its version was pruned goes on with the newest one', async (t) => {
    const registry = await serveRegistry(t)
    const load = async (name: string) => {
      await registry.load('companies', [{ id: 1, jurisdiction: 'GB', identifier: '1', name }])
      await registry.load('employees', [{ company_id: 1, id: 1, name: `${name} Clerk` }])
    }
    await load('One')
    const page = await registry.visit('/companies/1', { expected: refused })
    await page.getByRole('heading', { level: 1, name: 'One' }).waitFor()
    await untilLoaded(page)
    await load('Two')
    await registry.store.prune()
    await page.evaluate('location.hash = "#/companies/1/print"')
    await page.getByText('Two Clerk').waitFor()
    await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor()
    await untilLoaded(page)
    assert.equal(await page.getByText('This version is no longer kept.').count(), 0)
  })

  test('versions that are pruned while a page is open are no longer offered', async (t) => {
    const registry = await serveRegistry(t)
    for (const name of ['One', 'Two', 'Three']) {
      await registry.load('companies', [{ id: 1, jurisdiction: 'GB', identifier: '1', name }])
    }
    const page = await registry.visit('/companies/1/differences', { expected: refused })
    const earlier = page.getByRole('combobox', { name: 'Earlier version' })
    await earlier.getByRole('option', { name: /^Version 2 · / }).waitFor({ state: 'attached' })
    await registry.store.prune()
    await earlier.selectOption('1')
    await page.getByText('This version is no longer kept.').waitFor()
    await earlier.getByRole('option', { name: /^Version 2 · / }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Look back' }).click()
    await page.getByText(/^There is no earlier version.+Companies from gov/).waitFor()
  })

  test('a state from before the first version that is kept is shown at that version', async (t) => {
    const registry = await serveRegistry(t)
    const load = (id: number, name: string) =>
      registry.load('companies', [{ id, jurisdiction: 'GB', identifier: String(id), name }], name)
    for (const name of ['gov', 'stats']) await load(1, name)
    await load(2, 'others')
    await registry.store.prune()
    await load(1, 'bank')
    const page = await registry.visit('/companies/1')
    await page.getByRole('button', { name: 'Look back' }).click()
    const slider = page.getByRole('slider')
    await slider.waitFor()
    assert.equal(await slider.getAttribute('max'), '1')
    await slider.focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByText('You are looking at the past: Version 3').waitFor()
    await page.getByRole('columnheader', { name: 'bank' }).waitFor({ state: 'detached' })
    assert.match(String(await slider.getAttribute('aria-valuetext')), /^Version 2 · .+stats/)
  })

  test('offline, what was loaded stays, and the page retries by itself', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights', {
      expected: /ERR_INTERNET_DISCONNECTED/,
    })
    await page.getByText('1–25 of 230').waitFor()
    await untilLoaded(page)
    // All tabs share the network.
    t.after(() => page.context().setOffline(false))
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Next page' }).click()
    const notice = page.getByText(/^The service cannot be reached\. This is what was loaded at/)
    await notice.waitFor()
    const { y = -1 } = (await notice.boundingBox()) ?? {}
    assert.ok(y >= 0 && y < 900, `the notice is in sight of the pager, at ${y}`)
    await page.getByText('1–25 of 230').waitFor()
    assert.equal(await page.locator('.listing.stale').count(), 1)
    await page.context().setOffline(false)
    await page.getByText('26–50 of 230').waitFor()
    await page.getByText('The service cannot be reached.').waitFor({ state: 'detached' })
  })

  test('one notice that the service is away speaks for all requests, and retries them all', async (t) => {
    const page = await visitDemo(t, '/companies/1', { expected: /ERR_FAILED/ })
    await untilLoaded(page)
    await page.evaluate('printed = 0; print = () => { printed += 1 }')
    await page.route(/limit=1000/, (route) => route.abort())
    await page.keyboard.press('Control+p')
    const sections = page.locator('.print-view > section')
    await sections.last().waitFor()
    await page.locator('.print-view [aria-busy=true]').first().waitFor({ state: 'detached' })
    assert.equal(await sections.count(), resources.length)
    const away = page.getByText('The service cannot be reached.')
    await away.first().waitFor()
    assert.equal(await away.count(), 1)
    // What is missing is not printed as if there were none.
    assert.equal(await page.evaluate('printed'), 0)
    await page.unroute(/limit=1000/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page
      .getByRole('row', { name: /Priya von der Au/ })
      .first()
      .waitFor()
    await page.getByText('The service cannot be reached.').waitFor({ state: 'detached' })
    await until(async () => (await page.evaluate('printed')) === 1, 'it is printed')
  })
}

/** Opens a view of three rights with a key that may see rights only. */
async function visitNarrow(t: TestContext, view: string) {
  const registry = await serveRegistry(t, makeRights(3).records)
  return registry.visitWith({ name: 'narrow', scopes: ['rights'] }, view, { expected: refused })
}

/** A proxy before a port of this machine, which can cut an answer after its first bytes. */
async function startProxy(t: TestContext, port: number) {
  let cut: string | undefined
  const proxy = createServer((asked, answer) => {
    const { url = '', headers } = asked
    const isCut = cut !== undefined && url.includes(cut)
    if (isCut) cut = undefined
    request({ port, host: '127.0.0.1', path: url, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers)
      if (!isCut) return void given.pipe(answer)
      given.once('data', (bytes: Buffer) => {
        answer.write(bytes.subarray(0, 20), () => answer.destroy())
        given.destroy()
      })
    }).end()
  })
  const url = `http://127.0.0.1:${await openPort(t, proxy)}`
  return { url, cutNext: (part: string) => void (cut = part) }
}
