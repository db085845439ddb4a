// Pictures: what they show, by mouse and by keyboard, each with a sentence and its figures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Bench, visit } from './browser.ts'

const figure = (page: Page, name: string | RegExp) => page.getByRole('figure', { name })

/** The figures of a picture as a table. */
async function figuresOf(page: Page, name: string | RegExp): Promise<string[][]> {
  const picture = figure(page, name)
  await picture.getByText('The figures as a table').click()
  const rows = picture.getByRole('row')
  await rows.first().waitFor()
  const texts = await rows.allInnerTexts()
  return texts.map((text) => text.split('\t').map((cell) => cell.trim()))
}

/** The filters of days in the address. */
function daysIn(page: Page): readonly (string | null)[] {
  const query = new URLSearchParams(new URL(page.url()).hash.split('?')[1])
  return [query.get('date[gte]'), query.get('date[lte]')]
}

export function testPictures(given: () => Bench): void {
  test('the timeline has a mark for each change, which tells before and after', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/1/events'))
    const picture = figure(page, 'Changes over time')
    await picture.getByText(/^120 changes of 5 kinds, from .+ Most are of address \(47\)/).waitFor()
    assert.equal(await picture.locator('circle').count(), 120)
    await picture.getByRole('group', { name: /Arrow keys/ }).focus()
    await page.keyboard.press('ArrowRight')
    await picture
      .getByRole('status')
      .getByText(/^Address, .+: .+→.+/)
      .waitFor()
    const first = await picture.getByRole('status').innerText()
    await page.keyboard.press('ArrowRight')
    assert.notEqual(await picture.getByRole('status').innerText(), first)
    await page.keyboard.press('ArrowDown')
    await picture
      .getByRole('status')
      .getByText(/^Officers, /)
      .waitFor()
    await picture.locator('circle').nth(119).hover()
    await picture
      .getByRole('status')
      .getByText(/^Status, /)
      .waitFor()
    const sums = (await figuresOf(page, 'Changes over time')).slice(1).map((row) => Number(row[3]))
    assert.equal(
      sums.reduce((a, b) => a + b, 0),
      120,
    )
  })

  test('a drag over a period zooms in, and filters the table by its days', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/1/events'))
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
    await page.getByRole('button', { name: 'All of it' }).click()
    await page.getByText('1–25 of 120', { exact: true }).waitFor()
  })

  test('250,000 events are bars of equal numbers; zooming leads to single ones', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/2/events'))
    const picture = figure(page, 'Changes over time')
    await picture.getByText(/^250,000 changes of 5 kinds, from .+ Each bar has/).waitFor()
    assert.equal(await picture.locator('rect.bar').count(), 5 * 24)
    const sums = (await figuresOf(page, 'Changes over time')).slice(1).map((row) => row[3] ?? '')
    assert.equal(
      sums.reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0),
      250_000,
    )
    await page.evaluate(
      'location.hash = "#/companies/2/events?date[gte]=2012-01-01&date[lte]=2012-01-14"',
    )
    await picture.locator('circle').first().waitFor()
    const [, count = ''] = /^(\d+) changes/.exec(await picture.innerText().then(afterTitle)) ?? []
    assert.equal(await picture.locator('circle').count(), Number(count))
    await page.getByText(`of ${count} (250,000 without filters)`).waitFor()
  })

  test('bars from start to end show who was there when; a day lists them', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/1/employees'))
    const picture = figure(page, 'Who was there when')
    await picture.getByText('140 employees; most at a time: 96, on 6 Aug 2023.').waitFor()
    assert.equal(await picture.locator('rect.bar').count(), 140)
    await picture.getByRole('group', { name: /Arrow keys/ }).focus()
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

  test('rights by year and status, pay by currency, terminals by bank', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/1/rights'))
    await page.getByText('230 dated from 2005 to 2024; most in 2009 (17).').waitFor()
    const [head = [], ...years] = await figuresOf(page, /^By year/)
    assert.deepEqual(head, ['Year', 'registered', 'pending', 'expired', 'opposed', 'Total'])
    assert.equal(
      years.reduce((sum, row) => sum + Number(row.at(-1)), 0),
      230,
    )
    await page.getByRole('link', { name: /^Jobs/ }).click()
    await page.getByText('19 in GBP, from 20,000 to 93,000. 5 records have no amount.').waitFor()
    assert.equal((await figuresOf(page, 'Ranges of pay')).length, 1 + 19)
    await page.getByRole('link', { name: /^POS terminals/ }).click()
    await page.getByText('36 in 3 groups; most in Bank of the Fens (15).').waitFor()
    const [, most] = await figuresOf(page, 'By bank name')
    assert.deepEqual(most, ['Bank of the Fens', '7', '5', '3', '15'])
  })

  test('a filter changes the picture too, and a picture can be hidden', async (t) => {
    const { browser, at } = given()
    const page = await visit(t, browser, at('/companies/1/events?attr=status'))
    const picture = figure(page, 'Changes over time')
    await picture.getByText(/^7 changes of 1 kind, /).waitFor()
    assert.equal(await picture.locator('circle').count(), 7)
    await page.getByRole('button', { name: 'Hide the picture' }).click()
    assert.equal(await picture.count(), 0)
    await page.getByRole('button', { name: 'Show the picture' }).click()
    await picture.waitFor()
  })
}

/** The text of a picture after its heading. */
const afterTitle = (text: string) => text.slice(text.search(/\d/))
