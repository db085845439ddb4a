// The listings of a company: tables, filters, order and pages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { until } from '../support/until.ts'
import { askDemo, queryOf, untilLoaded, visitDemo } from './browser.ts'

interface Listing {
  readonly total: number
  readonly pagination_total: number
}

/** The text of the table as it is copied. */
const copied = `getSelection().selectAllChildren(document.querySelector('.records'))
  String(getSelection())`

const askFor = async (path: string) => JSON.parse(await askDemo(path)) as Listing

export function testListings(): void {
  test('every listing shows its records, counts, and values as the API has them', async (t) => {
    const page = await visitDemo(t, '/companies/1')
    for (const { name, title } of resources) {
      const { total } = await askFor(`companies/1/${name}?limit=1`)
      await page.getByRole('link', { name: new RegExp(`^${title}s ${total}`) }).click()
      const shown = Math.min(25, total)
      await page.getByText(`1–${shown} of ${total}`, { exact: true }).waitFor()
      const table = page.getByRole('table', { name: `${title}s of Ploverhollow Software Ltd` })
      assert.equal(await table.getByRole('row').count(), shown + 1)
      const names = await table.getByRole('rowheader').count()
      assert.equal(names, shown, `each of the ${name} has a name`)
      assert.doesNotMatch(String(await page.evaluate(copied)), /not known/)
    }
    await page.getByRole('link', { name: /^POS terminals/ }).click()
    await page.getByRole('rowheader', { name: 'T-000001', exact: true }).waitFor()
  })

  test('a filter of values has a menu with counts; a filter that is set can be removed', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights')
    const opener = page.getByRole('button', { name: 'Status' })
    await opener.focus()
    await page.keyboard.press('Enter')
    const option = page.getByRole('checkbox', { name: /^pending 43/ })
    await option.waitFor()
    await page.getByRole('checkbox', { name: /^opposed 38/ }).focus()
    await page.keyboard.press('Space')
    await option.focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.getByText('1–25 of 81 (230 without filters)').waitFor()
    assert.equal(queryOf(page), 'status=opposed&status=pending')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Status')
    await page.getByRole('button', { name: 'Remove the filter Status opposed' }).click()
    await page.getByText('1–25 of 43').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('1–25 of 230', { exact: true }).waitFor()
    await page.goBack()
    await page.getByText('1–25 of 43').waitFor()
  })

  test('ranges of days, null, and a day on which records hold are filters', async (t) => {
    const page = await visitDemo(t, '/companies/1/employees')
    const filters = page.getByRole('group', { name: 'Filters' })
    const set = async (menu: string, fill: () => Promise<void>) => {
      await filters.getByRole('button', { name: menu, exact: true }).click()
      await fill()
      await page.getByRole('button', { name: 'Apply' }).click()
    }
    await set('Start date', async () => {
      await page.getByLabel('From').fill('2015-01-01')
      await page.getByLabel('To', { exact: true }).fill('2019-12-31')
    })
    await set('End date', () => page.getByRole('checkbox', { name: 'Not known' }).check())
    await page.getByRole('button', { name: 'Remove the filter End date Not known' }).waitFor()
    await set('On the day', () => page.getByLabel('On the day').last().fill('2020-06-30'))
    await page.getByRole('button', { name: /^Remove the filter On the day/ }).waitFor()
    const query = queryOf(page)
    for (const part of ['end_date=', 'current_on=2020-06-30', 'start_date%5Bgte%5D=2015-01-01']) {
      assert.ok(query.includes(part), query)
    }
    const { pagination_total: expected } = await askFor(`companies/1/employees?${query}`)
    await page.getByText(`of ${expected} (140 without filters)`).waitFor()
  })

  test('a filter that is applied unchanged stays as in the address', async (t) => {
    const page = await visitDemo(t, '/')
    const apply = page.getByRole('button', { name: 'Apply' })
    const filters = page.getByRole('group', { name: 'Filters' })
    const views = [
      ['employees?start_date%5Bgt%5D=2015-01-01&start_date%5Blt%5D=2019-12-31', 'Start date'],
      ['jobs?salary_from%5Bgt%5D=40000&salary_from%5Blte%5D=60000', 'Salary from'],
      ['rights?registration_number=GB4000008&registration_number=GB4000011', 'Registration number'],
    ] as const
    for (const [view, menu] of views) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/companies/1/${view}`)}`)
      await filters.getByRole('button', { name: menu, exact: true }).click()
      await apply.click()
      await apply.waitFor({ state: 'detached' })
      assert.equal(queryOf(page), view.split('?')[1])
    }
    // What is never null is not offered as unknown.
    await page.evaluate('location.hash = "#/companies/1/events"')
    await filters.getByRole('button', { name: 'Date', exact: true }).click()
    await page.getByLabel('From').waitFor()
    assert.equal(await page.getByRole('checkbox').count(), 0)
  })

  test('a menu that is open follows the address', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?status=pending')
    await page.getByText('1–25 of 43').waitFor()
    await page.evaluate('location.hash = "#/companies/1/rights?status=opposed"')
    await page.getByText('1–25 of 38').waitFor()
    await page.getByRole('button', { name: 'Status', exact: true }).click()
    const option = (name: RegExp) => page.getByRole('checkbox', { name })
    await option(/^opposed/).waitFor()
    await page.goBack()
    await page.getByText('1–25 of 43').waitFor()
    assert.ok(await option(/^pending/).isChecked())
    assert.ok(!(await option(/^opposed/).isChecked()))
  })

  test('more values than a filter takes get a sentence, and none is left out (10.2)', async (t) => {
    const query = Array.from({ length: 20 }, (_, n) => `status=s${n}`).join('&')
    const expected = /status of 400/
    const page = await visitDemo(t, `/companies/1/rights?${query}`, { expected })
    await page.getByRole('button', { name: 'Status', exact: true }).click()
    await page.getByRole('checkbox', { name: /^pending/ }).check()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('status has 21 values; it takes 1 to 20').waitFor()
  })

  test('a day that is not given sets no filter', async (t) => {
    const page = await visitDemo(t, '/companies/1/employees?current_on=2020-06-30')
    await page.getByRole('button', { name: 'On the day', exact: true }).click()
    await page.locator('.panel input').fill('')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('1–25 of 140', { exact: true }).waitFor()
    assert.equal(queryOf(page), '')
  })

  test('another page begins at its top, on wide and on narrow screens', async (t) => {
    const wide = await visitDemo(t, '/companies/1/rights?limit=100')
    await wide.getByText('1–100 of 230').waitFor()
    const scrolled = 'document.querySelector(".scroller.long").scrollTop'
    await wide.evaluate(`${scrolled} = 2000`)
    await wide.getByRole('button', { name: 'Next page' }).click()
    await wide.getByText('101–200 of 230').waitFor()
    assert.equal(await wide.evaluate(scrolled), 0)
    const narrow = await visitDemo(t, '/companies/1/rights', { width: 360 })
    await narrow.getByRole('button', { name: 'Next page' }).click()
    await narrow.getByText('26–50 of 230').waitFor()
    const { y = -1 } = (await narrow.getByRole('table').boundingBox()) ?? {}
    assert.ok(y >= 0 && y < 900, `the first row is in sight, at ${y}`)
  })

  test('a thousand rows are rendered a hundred in each frame, on wide and on narrow screens', async (t) => {
    for (const width of [1280, 390]) {
      const page = await visitDemo(t, '/companies/2/events', { width })
      await untilLoaded(page)
      const counts = await page.evaluate<number[]>(`new Promise((done) => {
        const counts = []
        const look = () => {
          const { length } = document.querySelectorAll('.records tbody tr')
          if (length !== counts.at(-1)) counts.push(length)
          length === 1000 ? done(counts) : requestAnimationFrame(look)
        }
        location.hash += '?limit=1000'
        look()
      })`)
      const steps = counts.slice(1).map((count, n) => count - (counts[n] ?? 0))
      assert.ok(counts.length > 5 && Math.max(...steps) <= 200, counts.join())
      await untilLoaded(page)
      assert.equal(await page.getByRole('row').count(), 1_001)
    }
  })

  test('Back and Forward lead to where the reader was, on wide and on narrow screens', async (t) => {
    for (const width of [1280, 360]) {
      const page = await visitDemo(t, '/companies/1/rights?limit=100', { width })
      const isAt = async (y: number, what: string) =>
        until(async () => Math.abs(Number(await page.evaluate('scrollY')) - y) < 2, what)
      const scroll = async (y: number) => {
        const ended = "new Promise((done) => addEventListener('scrollend', () => setTimeout(done)))"
        await page.evaluate(`void (ended = ${ended}); scrollTo(0, ${y})`)
        await page.evaluate('ended')
        assert.equal(await page.evaluate('scrollY'), y)
      }
      await page.getByText('1–100 of 230').waitFor()
      await untilLoaded(page)
      await scroll(500)
      await page.evaluate('location.hash = "#/companies/1/jobs"')
      await page.getByText('1–24 of 24').waitFor()
      await untilLoaded(page)
      await scroll(300)
      await page.evaluate('location.hash = "#/companies/2/rights"')
      await page.getByRole('heading', { name: 'Foods' }).waitFor()
      await isAt(0, 'another company begins at its top')
      await page.goBack()
      await page.getByText('1–24 of 24').waitFor()
      await isAt(300, `jobs, ${width} px wide`)
      await page.goBack()
      await page.getByText('1–100 of 230').waitFor()
      await isAt(500, `rights, ${width} px wide`)
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText('101–200 of 230').waitFor()
      await page.goBack()
      await page.getByText('1–100 of 230').waitFor()
      const { y = 0 } = (await page.getByRole('button', { name: 'Next page' }).boundingBox()) ?? {}
      assert.ok(y > 0 && y < 900, `the button is in sight, at ${y}`)
      await page.goForward()
      await page.getByText('101–200 of 230').waitFor()
    }
  })

  test('Back leads to the card where the reader was among a thousand', async (t) => {
    const page = await visitDemo(t, '/companies/2/events?limit=1000', { width: 390 })
    await untilLoaded(page)
    for (let y = 700; y <= 7_000; y += 700) {
      await page.evaluate(`new Promise((done) => {
        addEventListener('scrollend', () => setTimeout(done), { once: true })
        scrollTo(0, ${y})
      })`)
    }
    const isBelow = '(row) => row.getBoundingClientRect().bottom > 0'
    const first = `[...document.querySelectorAll('.records tbody tr')].findIndex(${isBelow})`
    const left = Number(await page.evaluate(first))
    assert.ok(left > 5, `it is card ${left}`)
    await page.evaluate('location.hash = "#/companies/2/jobs"')
    await page.getByText('1–3 of 3').waitFor()
    await page.goBack()
    await page.getByText('1–1,000 of 250,000').waitFor()
    await untilLoaded(page)
    await until(async () => (await page.evaluate(first)) === left, 'the card is in sight again')
  })

  test('a card of the overview counts by values that several records have', async (t) => {
    const page = await visitDemo(t, '/companies/1')
    const card = page.locator('.card', { hasText: 'POS terminals' })
    await card.waitFor()
    assert.equal(await card.locator('.by').innerText(), 'Bank name')
  })

  test('the focus stays where a filter is removed, and on the last page', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?status=pending&object_type=patent')
    const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
    for (const name of ['Remove the filter Status pending', 'Clear filters']) {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name }).waitFor({ state: 'detached' })
      assert.equal(await focused(), 'Filters')
    }
    // Until then, the last page is that of the filtered listing.
    await page.getByText('1–25 of 230').waitFor()
    await page.getByRole('button', { name: 'Last page' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('226–230 of 230').waitFor()
    assert.equal(await focused(), 'Last page')
    await page.keyboard.press('Enter')
    assert.equal(queryOf(page), 'page=10')
  })

  test('a click on a column orders by it, up, down, and as before', async (t) => {
    const page = await visitDemo(t, '/companies/1/employees')
    const head = page.getByRole('columnheader', { name: 'Start date' })
    for (const [sort, order] of [
      ['sort=start_date', 'ascending'],
      ['sort=-start_date', 'descending'],
      ['', null],
    ] as const) {
      await head.getByRole('button').click()
      await page.waitForURL((url) => (url.hash.split('?')[1] ?? '') === sort)
      assert.equal(await head.getAttribute('aria-sort'), order)
    }
  })

  test('pages and page sizes are in the address, and Back goes back', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights')
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('26–50 of 230').waitFor()
    await page.getByRole('button', { name: 'Last page' }).click()
    await page.getByText('226–230 of 230').waitFor()
    assert.ok(await page.getByRole('button', { name: 'Next page' }).isDisabled())
    await page.getByRole('spinbutton', { name: 'Page, of 10' }).fill('4')
    await page.keyboard.press('Enter')
    await page.getByText('76–100 of 230').waitFor()
    await page.getByRole('combobox').selectOption('1000')
    await page.getByText('1–230 of 230').waitFor()
    assert.equal(queryOf(page), 'limit=1000')
    await page.goBack()
    await page.getByText('76–100 of 230').waitFor()
  })

  test('empty listings, empty selections and pages past the end say so', async (t) => {
    const page = await visitDemo(t, '/companies/2901/jobs')
    await page.getByText('This company has no jobs on record.').waitFor()
    await page.evaluate('location.hash = "#/companies/1/rights?status=none"')
    await page.getByText('No record matches these filters.').waitFor()
    await page.evaluate('location.hash = "#/companies/1/rights?page=99"')
    await page.getByRole('button', { name: 'Go to the last page' }).press('Enter')
    await page.getByText('226–230 of 230').waitFor()
    // The button goes away; the focus stays in the listing.
    assert.equal(await page.evaluate('document.activeElement.className'), 'listing')
  })
}
