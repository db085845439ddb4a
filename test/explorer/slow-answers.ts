// While answers are on their way, or the registry moves on: what is shown is of one state, and the
// newest request wins.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/until.ts'
import { holdAnswers, queryOf, requestsOf, shiftOf, untilLoaded, visitDemo } from './browser.ts'
import { makeHistory, person, visitHistory } from './versions.ts'

export function testSlowAnswers(): void {
  test('a status that waits for a request of the key says so', async (t) => {
    const page = await visitDemo(t, '/', { expected: /status of 429/ })
    await page.route(/events\?limit=250/, (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '1' }, body: '{}' }),
    )
    await page.evaluate('location.hash = "#/companies/1"')
    await page.locator('.facts', { hasText: /Status\s*…/ }).waitFor()
    const notice = page.getByText(/^This key has no requests left for now\./)
    await notice.waitFor()
    await page.unroute(/events\?limit=250/)
    await page.locator('.facts', { hasText: 'active since 27 Mar 2022' }).waitFor()
    await notice.waitFor({ state: 'detached' })
  })

  test('while another selection loads, none of its pages is known to be the last', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights')
    await page.getByText('1–25 of 230').waitFor()
    const release = await holdAnswers(page)
    await page.evaluate('location.hash = "#/companies/1/rights?status=opposed"')
    const last = page.getByRole('button', { name: 'Last page' })
    await page.locator('[aria-label="Last page"][aria-disabled=true]').waitFor()
    // The table of before is pale meanwhile.
    const opacity = 'getComputedStyle(document.querySelector(".scroller")).opacity'
    await until(async () => Number(await page.evaluate(opacity)) < 1, 'the table is pale')
    await last.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('spinbutton').fill('9')
    await page.keyboard.press('Enter')
    assert.equal(queryOf(page), 'status=opposed')
    await release()
    await page.getByText('1–25 of 38').waitFor()
    await last.click()
    await page.getByText('26–38 of 38').waitFor()
    // A page beyond the last one is the last one, and the field says so.
    const field = page.getByRole('spinbutton', { name: 'Page, of 2' })
    await field.fill('9')
    await page.keyboard.press('Enter')
    assert.equal(await field.inputValue(), '2')
  })

  test('while another selection loads, texts are about the one that is shown', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?status=none')
    const none = page.getByText('No record matches these filters.')
    await none.waitFor()
    const release = await holdAnswers(page)
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await page.locator('.listing[aria-busy=true]').waitFor()
    assert.ok(await none.isVisible())
    await release()
    await page.getByText('1–25 of 230', { exact: true }).waitFor()
  })

  test('the results of some words are not reported for other words', async (t) => {
    const page = await visitDemo(t, '/?q=nobody')
    const none = page.getByText('No company has this name or number.')
    await none.waitFor()
    const release = await holdAnswers(page)
    await page.getByRole('searchbox').fill('ploverhollow')
    await page.getByText('Searching …').waitFor()
    assert.equal(await none.count(), 0)
    await release()
    await page.getByText('1 company').waitFor()
  })

  test('a timeline keeps its own days until the next one is ready', async (t) => {
    const page = await visitDemo(t, '/companies/1/events', { expected: /ERR_FAILED/ })
    const first = page.locator('figure circle').first()
    const place = await first.getAttribute('cx')
    const release = await holdAnswers(page, /limit=1000/)
    await page.evaluate('location.hash = "#/companies/1/events?date[gte]=2023-01-01"')
    await page.getByText(/\(120 without filters\)/).waitFor()
    assert.equal(await first.getAttribute('cx'), place)
    await release()
    await untilLoaded(page)
    assert.notEqual(await first.getAttribute('cx'), place)
    // One that cannot be drawn leaves no hole.
    await page.route(/limit=1000/, (route) => route.abort())
    await page.evaluate('location.hash = "#/companies/1/rights"')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    assert.equal(await page.locator('.waiting-picture').count(), 0)
  })

  test('on the way to the past and back, no version is misnamed', async (t) => {
    const page = await visitHistory(t, '/companies/7')
    await page.getByText('Now · Version 5').waitFor()
    await untilLoaded(page)
    const release = await holdAnswers(page)
    await page.evaluate('location.hash = "#/companies/7?version=2"')
    await page.getByText('You are not looking at the present.').waitFor()
    await release()
    await page.getByText('You are looking at the past: Version 2').waitFor()
    await page.getByRole('row', { name: /Status active now dissolved/ }).waitFor()
    // What the present was is known.
    const releaseBack = await holdAnswers(page)
    await page.getByRole('link', { name: 'Back to now' }).click()
    await page.getByText('Now · Version 5').waitFor()
    await page.getByRole('row', { name: /Status dissolved/ }).waitFor()
    await releaseBack()
    await page.evaluate('location.hash = "#/companies/7?version=5"')
    await page.getByText('You are looking at the newest version: Version 5').waitFor()
    assert.equal(await page.getByRole('link', { name: 'What has changed since' }).count(), 0)
  })

  test('a version that arrives does not move a slider that the reader has moved on', async (t) => {
    const page = await visitHistory(t, '/companies/7')
    // The slider's rest ends when this test says so.
    await page.evaluate(`
      rests = []
      const usual = setTimeout
      setTimeout = (run, ms) => ms === 200 ? -rests.push(run) : usual(run, ms)`)
    const rest = async () => {
      await until(async () => Number(await page.evaluate('rests.length')) > 0, 'it rests')
      await page.evaluate('rests.pop()()')
    }
    await page.getByRole('button', { name: 'Look back' }).click()
    const earlier = page.getByRole('button', { name: 'Earlier version' })
    await earlier.click()
    const release = await holdAnswers(page)
    await rest()
    await page.waitForURL(/version=4$/)
    await earlier.click()
    await release()
    await page.getByText('You are looking at the past: Version 4').waitFor()
    await untilLoaded(page)
    const place = String(await page.getByRole('slider').getAttribute('aria-valuetext'))
    assert.match(place, /^Version 3/)
    await rest()
    await page.getByText('You are looking at the past: Version 3').waitFor()
  })

  test('differences are marked in the records that they are about, and in no others', async (t) => {
    const page = await visitHistory(t, '/companies/7/employees?version=2')
    await page.getByRole('row', { name: /Bob Gone since/ }).waitFor()
    const release = await holdAnswers(page, /employees\?.*limit=25/)
    await page.evaluate('location.hash = "#/companies/7/employees?version=4"')
    await page.getByText('You are looking at the past: Version 4').waitFor()
    await page.getByRole('row', { name: 'Bob' }).waitFor()
    const said = page.getByText('Nothing here differs from now.')
    // What is to be shown at once has been shown then.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))')
    assert.equal(await said.count(), 0)
    await release()
    await said.waitFor()
  })

  test('a comparison that loads says so', async (t) => {
    const page = await visitHistory(t, '/companies/7')
    await untilLoaded(page)
    const release = await holdAnswers(page)
    await page.evaluate('location.hash = "#/companies/7/differences?from=2&to=5"')
    await page.getByText('Loading …').waitFor()
    await release()
    await page.getByText('active').first().waitFor()
  })

  test('a tab that is opened while the slider rests stays open, at its version', async (t) => {
    const page = await visitHistory(t, '/companies/7')
    await page.getByRole('button', { name: 'Look back' }).click()
    const earlier = page.getByRole('button', { name: 'Earlier version' })
    await earlier.waitFor()
    // The tab's timer is due before the slider's, on any machine.
    await page.evaluate(`
      document.querySelector('.slider [aria-label="Earlier version"]').click()
      setTimeout(() => document.querySelector('.tabs a[href$="/employees"]').click(), 100)`)
    await page.getByText('You are looking at the past: Version 4').waitFor()
    assert.match(page.url(), /#\/companies\/7\/employees\?version=4$/)
  })

  test('the failure of one address is not reported for the next one', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?sort=bad', { expected: /status of 400/ })
    const said = page.getByText('The service does not understand this address.')
    await said.waitFor()
    const release = await holdAnswers(page)
    await page.getByRole('link', { name: 'Reset the view' }).click()
    await said.waitFor({ state: 'detached' })
    await page.getByText('Loading …').waitFor()
    await release()
    await page.getByText('1–25 of 230').waitFor()
  })

  test('where an answer takes long, the page says that it loads', async (t) => {
    const page = await visitDemo(t, '/')
    const release = await holdAnswers(page)
    await page.evaluate('location.hash = "#/companies/1"')
    await page.getByText('Loading …').waitFor()
    // Its name is not known yet, which is not to say that it has none.
    assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), '…')
    await release()
    await page.getByRole('heading', { name: 'On record' }).waitFor()
  })

  for (const view of ['/companies/1?version=3', '/companies/1/employees?version=3']) {
    test(`nothing moves on a phone while ${view} loads`, async (t) => {
      const page = await visitDemo(t, '/', { width: 360 })
      const release = await holdAnswers(page, /versions\?/)
      const answered = page.waitForResponse(/companies\/1\?version=3/)
      await page.evaluate(`location.hash = '#${view}'`)
      await (await answered).finished()
      await page.evaluate(
        'new Promise((done) => setTimeout(() => requestAnimationFrame(done), 200))',
      )
      await release()
      await page.getByText('You are looking at the past: Version 3').waitFor()
      await untilLoaded(page)
      const shift = await shiftOf(page)
      assert.ok(shift < 0.05, `the page has shifted by ${shift}`)
    })
  }

  test('a view that was to be printed is not, once the reader has left it', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights')
    await page.getByText('1–25 of 230').waitFor()
    await page.evaluate('printed = 0; print = () => (printed += 1)')
    const release = await holdAnswers(page, /limit=1000/)
    await page.keyboard.press('Control+p')
    await page.locator('.print-actions').getByText('Loading …').waitFor()
    await page.goBack()
    await page.getByText('1–25 of 230').waitFor()
    await release()
    await page.goForward()
    await page.getByRole('button', { name: 'Print', exact: true }).click()
    assert.equal(await page.evaluate('printed'), 1)
  })

  test('counts and versions follow a registry that moves on meanwhile', async (t) => {
    const registry = await makeHistory(t)
    const page = await registry.visit('/companies/7/jobs')
    await page.getByText('Now · Version 5,').waitFor()
    await registry.load(
      'employees',
      [4, 5, 6].map((id) => person(id, `Person ${id}`, 'Clerk')),
    )
    await page.getByRole('link', { name: /^Employees 2/ }).click()
    await page.getByText('1–3 of 3').waitFor()
    await page.getByRole('link', { name: /^Employees 3/ }).waitFor()
    await page.getByText('Now · Version 6,').waitFor()
    // Also where something else tells it.
    await registry.load('employees', [person(4, 'Dan', 'Clerk')])
    await page.getByRole('searchbox').fill('northwind')
    await page.getByRole('link', { name: /^Employees 1/ }).waitFor()
    await page.getByText('1–1 of 1').waitFor()
  })

  test('a link to the past asks for nothing twice', async (t) => {
    const page = await visitHistory(t, '/')
    const asked = requestsOf(page)
    // The answer about the past comes first.
    const release = await holdAnswers(page, /companies\/7$|versions/)
    const past = page.waitForResponse(/version=2$/)
    await page.evaluate('location.hash = "#/companies/7?version=2"')
    await (await past).finished()
    await release()
    await page.getByText('You are looking at the past: Version 2').waitFor()
    await untilLoaded(page)
    assert.equal(asked.filter((url) => url.endsWith('?version=2')).length, 1)
  })
}
