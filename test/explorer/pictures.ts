// Pictures: what they show, by mouse and by keyboard, each with a sentence and its figures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { rights } from '../../src/resources/rights.ts'
import { makeRecords } from '../support/make-record.ts'
import { shiftOf, untilLoaded, visitDemo } from './browser.ts'
import { serveRegistry } from './own-registry.ts'

const figure = (page: Page, name: string | RegExp) => page.getByRole('figure', { name })

/** The figures of a picture as a table. */
async function figuresOf(page: Page, name: string | RegExp): Promise<string[][]> {
  const picture = figure(page, name)
  const table = picture.locator('details')
  if ((await table.getAttribute('open')) === null) await table.locator('summary').click()
  const rows = picture.getByRole('row')
  await rows.first().waitFor()
  const texts = await rows.allInnerTexts()
  return texts.map((text) => text.split('\t').map((cell) => cell.trim()))
}

/** How the last column of the open figures is aligned. */
async function alignOfLast(page: Page): Promise<unknown> {
  return page.evaluate(
    'getComputedStyle(document.querySelector(".figures td:last-child")).textAlign',
  )
}

/** The filters of days in the address. */
function daysIn(page: Page): readonly (string | null)[] {
  const query = new URLSearchParams(new URL(page.url()).hash.split('?')[1])
  return [query.get('date[gte]'), query.get('date[lte]')]
}

/** Counts what a page asks of the API, for a check of each view that it loads. */
function countRequests(page: Page) {
  let count = 0
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/')) count += 1
  })
  const checkFew = async () => {
    await untilLoaded(page)
    assert.ok(count > 0 && count <= 10, `${count} requests`)
    count = 0
  }
  return { page, checkFew }
}

/** Checks that the page has kept the place of its picture. */
async function checkStill(page: Page): Promise<void> {
  await untilLoaded(page)
  const shift = await shiftOf(page)
  assert.ok(shift < 0.02, `the page has shifted by ${shift}`)
}

/** Filters by days through the address, as a drag over a period does. */
async function zoomTo(page: Page, from: string, to: string): Promise<void> {
  const view = `#/companies/2/events?date[gte]=${from}&date[lte]=${to}`
  await page.evaluate(`location.hash = ${JSON.stringify(view)}`)
}

/** The sum of the figures of the changes over time. */
async function sumOf(page: Page): Promise<number> {
  const rows = (await figuresOf(page, 'Changes over time')).slice(1)
  return rows.reduce((sum, row) => sum + Number((row[3] ?? '').replaceAll(',', '')), 0)
}

export function testPictures(): void {
  test('the timeline has a mark for each change, which shows before and after', async (t) => {
    const page = await visitDemo(t, '/companies/1/events')
    const picture = figure(page, 'Changes over time')
    await picture.getByText(/^120 changes of 5 kinds, .+ Most often: officers \(44\)/).waitFor()
    await checkStill(page)
    assert.equal(await picture.locator('circle').count(), 120)
    await picture.getByRole('group', { name: /arrow keys/ }).focus()
    await page.keyboard.press('ArrowRight')
    await picture
      .getByRole('status')
      .getByText(/^Officers, .+: .+→.+/)
      .waitFor()
    const first = await picture.getByRole('status').innerText()
    await page.keyboard.press('ArrowRight')
    assert.notEqual(await picture.getByRole('status').innerText(), first)
    await page.keyboard.press('ArrowDown')
    await picture
      .getByRole('status')
      .getByText(/^Address, /)
      .waitFor()
    await picture.locator('circle').nth(119).hover()
    await picture
      .getByRole('status')
      .getByText(/^Activity, /)
      .waitFor()
    const sums = (await figuresOf(page, 'Changes over time')).slice(1).map((row) => Number(row[3]))
    const sum = sums.reduce((a, b) => a + b, 0)
    assert.equal(sum, 120)
  })

  test('a drag over a period zooms in, and filters the table by its days', async (t) => {
    const page = await visitDemo(t, '/companies/1/events')
    const picture = figure(page, 'Changes over time')
    const box = (await picture.locator('svg.brushable').boundingBox()) ?? assert.fail()
    const y = box.y + 30
    await page.mouse.move(box.x + 400, y)
    await page.mouse.down()
    await page.mouse.move(box.x + 600, y, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/date%5Bgte%5D/)
    const [from, to] = daysIn(page)
    assert.ok(String(from) < String(to))
    await page.getByText(/\(120 without filters\)/).waitFor()
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.waitForURL((address) => !address.hash.includes(String(from)))
    assert.ok(String(daysIn(page)[0]) < String(from))
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByText('1–25 of 120', { exact: true }).waitFor()
  })

  test('250,000 events are drawn by ten requests at most, and so is each zoom', async (t) => {
    const { page, checkFew } = countRequests(await visitDemo(t, '/'))
    await page.evaluate('location.hash = "#/companies/2/events"')
    const picture = figure(page, 'Changes over time')
    await picture.getByText(/^250,000 changes, from .+ By kind: (\w[\w ]+ [\d,]+, ){4}/).waitFor()
    await checkFew()
    assert.equal(await picture.locator('rect.bar').count(), 6)
    assert.equal(await sumOf(page), 250_000)

    // The second bar of six has some 41,667 changes: still bars of equal numbers.
    await picture.locator('rect.bar').nth(1).click()
    await picture.getByText(/^41,\d\d\d changes, from/).waitFor()
    await checkFew()

    // Some thousands are counted by days, for each kind.
    await zoomTo(page, '2012-01-01', '2012-04-30')
    await picture.getByText(/^4,\d\d\d changes of 5 kinds, .+ Each bar counts 3 days\.$/).waitFor()
    await checkFew()
    const said = await picture.innerText().then(afterTitle)
    assert.equal(await sumOf(page), Number((/^[\d,]+/.exec(said)?.[0] ?? '').replace(',', '')))

    // A few hundred are marks.
    await zoomTo(page, '2012-01-01', '2012-01-14')
    await picture.locator('circle').first().waitFor()
    await checkFew()
    const [, count = ''] = /^(\d+) changes/.exec(await picture.innerText().then(afterTitle)) ?? []
    assert.equal(await picture.locator('circle').count(), Number(count))
    await page.getByText(`of ${count} (250,000 without filters)`).waitFor()
  })

  test('a pointer is at the bar that it is over, however near the next one is', async (t) => {
    const registry = await serveRegistry(t)
    const dates = [
      '1900-01-01',
      ...Array.from({ length: 6_000 }, (_, n) => `20${10 + (n % 10)}-01-01`),
    ]
    const change = (day: string, n: number) => ({
      id: n + 1,
      attr: 'name',
      date: `${day}T00:00:00Z`,
    })
    await registry.load(
      'events',
      dates.map((day, n) => ({ company_id: 1, ...change(day, n) })),
    )
    const page = await registry.visit('/companies/1/events')
    const picture = figure(page, 'Changes over time')
    const first = picture.locator('rect.bar').first()
    const { x, width, y, height } = (await first.boundingBox()) ?? assert.fail('it is drawn')
    await page.mouse.move(x + width - 20, y + height - 1)
    await picture.getByText(/^All kinds: 1,00\d changes from 1 Jan 1900 to/).waitFor()
    // The next bar is narrow: a pointer just beside it is meant for it.
    await page.mouse.move(x + width + 2, y + height - 1)
    await picture.getByText(/^All kinds: 1,000 changes from \d+ Jan 201/).waitFor()
  })

  test('a past version of a long listing takes ten requests at most, too', async (t) => {
    const registry = await serveRegistry(t)
    const records = makeRecords(rights, 7_000)
    await registry.store.load([{ resource: rights, company: 1, records: records.slice(0, 6_900) }])
    await registry.store.load([{ resource: rights, company: 1, records }])
    const { page, checkFew } = countRequests(await registry.visit('/'))
    await page.evaluate('location.hash = "#/companies/1/rights?version=1"')
    await page.getByText('What differs from now is not marked in 7,000 records.').waitFor()
    await page.getByText(/Only the first 5,000 of 6,900 records/).waitFor()
    await checkFew()
    await page.getByRole('button', { name: 'Compare them all' }).click()
    await page.getByText('Compared with now: 100 new since.').waitFor()
  })

  test('bars from start to end show who was there when; a day lists them', async (t) => {
    const page = await visitDemo(t, '/companies/1/employees')
    const picture = figure(page, 'Employees over time')
    await picture.getByText('140 employees; most at a time: 89, on 31 Dec 2023.').waitFor()
    await checkStill(page)
    assert.equal(await picture.locator('rect.bar').count(), 140)
    const [head] = await figuresOf(page, 'Employees over time')
    assert.deepEqual(head, ['Name', 'Position', 'Start date', 'End date'])
    assert.equal(await alignOfLast(page), 'start')
    // Who has not left is there today.
    await picture.getByRole('group', { name: /arrow keys/ }).focus()
    await page.keyboard.press('ArrowRight')
    const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
    await picture.getByText(`On ${today.format(Date.now())}: 83 employees`).waitFor()
    await picture.getByRole('group', { name: /arrow keys/ }).focus()
    await page.keyboard.press('PageUp')
    const said = await picture
      .getByRole('status')
      .getByText(/^On .+: \d+ employees/)
      .innerText()
    const [, count = ''] = /: (\d+) employees/.exec(said) ?? []
    await page.keyboard.press('Enter')
    await page.getByText(`of ${count} (140 without filters)`).waitFor()
    assert.match(page.url(), /current_on=\d{4}-\d\d-\d\d$/)
  })

  test('long names of who was there leave the page below in its place', async (t) => {
    const registry = await serveRegistry(t)
    const person = (id: number) => {
      return { company_id: 1, id, name: `${'Long '.repeat(30)}${id}`, start_date: '2020-01-01' }
    }
    await registry.load('employees', [1, 2, 3, 4].map(person))
    const page = await registry.visit('/companies/1/employees', { width: 375 })
    const picture = figure(page, 'Employees over time')
    await picture.getByText('4 employees; most at a time: 4').waitFor()
    await untilLoaded(page)
    const before = await picture.boundingBox()
    await picture.getByRole('group', { name: /arrow keys/ }).press('ArrowLeft')
    await picture.getByText(/^On .+: 4 employees/).waitFor()
    assert.deepEqual(await picture.boundingBox(), before)
  })

  test('rights by year and status, and no picture where a table says as much', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights')
    await page.getByText('230 rights dated from 2005 to 2024; most in 2021 (20).').waitFor()
    await checkStill(page)
    const [head = [], ...years] = await figuresOf(page, /by year$/)
    assert.deepEqual(head, ['Year', 'registered', 'pending', 'opposed', 'expired', 'Total'])
    const sum = years.reduce((sum, row) => sum + Number(row.at(-1)), 0)
    assert.equal(sum, 230)
    await page.evaluate('location.hash = "#/companies/4/rights?status=registered"')
    await page.getByText('1 right dated 2022.').waitFor()
    await page.getByRole('link', { name: /^Jobs/ }).click()
    await page.getByRole('columnheader', { name: /^Salary from/i }).waitFor()
    await untilLoaded(page)
    assert.equal(await page.getByRole('figure').count(), 0)
  })

  test('a filter changes the picture too, and a picture can be hidden', async (t) => {
    const page = await visitDemo(t, '/companies/1/events?attr=status')
    const picture = figure(page, 'Changes over time')
    await picture.getByText(/^10 changes of 1 kind, /).waitFor()
    // They are drawn once the width of the picture is known.
    await picture.locator('circle').first().waitFor()
    assert.equal(await picture.locator('circle').count(), 10)
    await page.getByRole('button', { name: 'Hide chart' }).click()
    assert.equal(await picture.count(), 0)
    await page.getByRole('button', { name: 'Show chart' }).click()
    await picture.waitFor()
  })

  test('many values and far years share a row, and leave empty years out', async (t) => {
    const registry = await serveRegistry(t)
    const records = makeRecords(rights, 30).map((record, n) => ({
      ...record,
      status: `status ${n}`,
      application_date: n === 0 ? '0001-01-01T00:00:00Z' : '9999-12-31T00:00:00Z',
    }))
    await registry.store.load([{ resource: rights, company: 1, records }])
    const page = await registry.visit('/companies/1/rights')
    await figure(page, /by year$/)
      .getByText('30 rights dated from 1 to 9999')
      .waitFor()
    const named = page.locator('.plot text:not(.label)')
    const labels = await named.allTextContents()
    assert.ok(labels.length > 9 && labels.every((label) => label.endsWith('00')), String(labels))
    await page.getByRole('cell', { name: '1 Jan 0001', exact: true }).waitFor()
    const [head = [], ...years] = await figuresOf(page, /by year$/)
    assert.equal(await alignOfLast(page), 'end')
    assert.equal(head.length, 15)
    assert.equal(head.at(-2), '18 other values')
    const told = years.map((row) => [row[0], row.at(-1)])
    assert.deepEqual(told, [
      ['1', '1'],
      ['9999', '29'],
    ])
  })

  test('a change at midnight is described with its own day', async (t) => {
    const registry = await serveRegistry(t)
    const change = (id: number, day: number) => {
      return { company_id: Math.min(id, 2), id, attr: 'name', date: `2020-05-${day}T00:00:00Z` }
    }
    const vat = (id: number) => ({ ...change(id, 20), company_id: 3, attr: 'VAT' })
    const others = [vat(4), vat(5), { ...vat(6), attr: 'name' }]
    await registry.load('events', [change(1, 18), change(2, 18), change(3, 20), ...others])
    const page = await registry.visit('/companies/1/events')
    await page.getByText('1 change of 1 kind, on 18 May 2020.').waitFor()
    await page.evaluate('location.hash = "#/companies/2/events"')
    await page.getByText('2 changes of 1 kind, from 18 May 2020 to 20 May 2020.').waitFor()
    await page.evaluate('location.hash = "#/companies/3/events"')
    await page.getByText('on 20 May 2020. Most often: VAT (2).').waitFor()
  })

  test('a picture without any known day says which day is missing', async (t) => {
    const registry = await serveRegistry(t)
    const [right, person] = [{ name: 'ACME' }, { name: 'Ann', position: 'Clerk' }]
    await registry.load('rights', [{ company_id: 1, id: 1, ...right }])
    await registry.load('employees', [{ company_id: 1, id: 1, ...person }])
    const page = await registry.visit('/companies/1/rights')
    const years = figure(page, 'Application date by year')
    await years.getByText('Nothing to draw: no application date is known.').waitFor()
    await page.evaluate('location.hash = "#/companies/1/employees"')
    const periods = figure(page, 'Employees over time')
    await periods.getByText('Nothing to draw: no start date is known.').waitFor()
    assert.equal(await page.locator('.plot').count(), 0)
  })

  test('no picture leads to a day before the first one or after the last one', async (t) => {
    const registry = await serveRegistry(t)
    const [first, last] = ['0001-01-01', '9999-12-31']
    const person = { company_id: 1, name: 'Ann', position: 'Clerk' }
    await registry.load('employees', [{ ...person, id: 1, start_date: first, end_date: last }])
    const change = { company_id: 1, attr: 'name' }
    await registry.load('events', [
      { ...change, id: 1, date: first },
      { ...change, id: 2, date: last },
    ])
    const page = await registry.visit('/companies/1/employees')
    await page.getByRole('group', { name: /^Employees over time/ }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByText('On 31 Dec 9999: 1 employee').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('On the day 31 Dec 9999').waitFor()
    await page.getByText('1–1 of 1').waitFor()
    await page.evaluate(`location.hash = "#/companies/1/events?date[gte]=${first}"`)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await page.getByRole('button', { name: 'Remove the filter Date ≤ 31 Dec 9999' }).waitFor()
    assert.deepEqual(daysIn(page), [first, last])
    await page.getByText('1–2 of 2').waitFor()
  })

  test('a person who leaves before the first day counts on no day', async (t) => {
    const registry = await serveRegistry(t)
    const person = { company_id: 1, name: 'Ann', position: 'Clerk' }
    await registry.load('employees', [
      { ...person, id: 1, start_date: '2020-01-01', end_date: '2010-01-01' },
      { ...person, id: 2, start_date: '2015-01-01', end_date: null },
    ])
    const page = await registry.visit('/companies/1/employees')
    await page.getByText('2 employees; most at a time: 1, on 1 Jan 2015.').waitFor()
  })

  test('a picture counts who was there on a day as the service does (10.3)', async (t) => {
    const registry = await serveRegistry(t)
    const periods = [
      [null, '2024-06-30'],
      [null, '2024-06-29T23:00:00Z'],
      ['2024-06-30', '2024-06-30T12:00:00Z'],
      ['2024-06-30T15:00:00Z', null],
    ]
    const people = periods.map(([start, end], n) => {
      return { company_id: 1, id: n + 1, name: `P${n}`, start_date: start, end_date: end }
    })
    await registry.load('employees', people)
    const page = await registry.visit('/companies/1/employees')
    await page.getByText('4 employees; most at a time: 3, on 30 Jun 2024. 2 records with').waitFor()
    await page.getByRole('group', { name: /^Employees over time/ }).focus()
    // Back to the first day, whichever year it is.
    for (let years = 0; years < 20; years += 1) await page.keyboard.press('PageUp')
    await page.getByText('On 30 Jun 2024: 3 employees').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('1–3 of 3 (4 without filters)').waitFor()
  })
}

/** The text of a picture after its heading. */
const afterTitle = (text: string) => text.slice(text.search(/\d/))
