// Texts of a register stay text, whatever they are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import type { Page } from 'playwright-core'
import type { Resource } from '../../src/resources/resource.ts'
import { employees } from '../../src/resources/employees.ts'
import { rights } from '../../src/resources/rights.ts'
import { makeRecord } from '../support/make-record.ts'
import { checkAccessible } from './accessibility.ts'
import { overflowOf } from './browser.ts'
import { serveRegistry } from './own-registry.ts'

const hostile = [
  '<img src=x onerror="document.title=1"><script>alert(1)</script>',
  'javascript:alert(1)',
  '\u202egnidliub eht \u202d<b>bold</b>',
  'مؤسسة الهلال للتجارة',
  'x'.repeat(10_000),
  '</script><svg onload=alert(1)>',
  '${alert(1)} {{alert(1)}} &lt;b&gt; %3Cb%3E',
]

/** Elements that only markup of the register could have made. */
const foreign = 'main :is(img, script, iframe, b, form[action], a[href^="javascript"], [onload])'

/** How many names are followed, in their line, by something to their left. */
const turned = `[...document.querySelectorAll('.difference-list strong')].filter((name) => {
  const after = document.createRange()
  after.selectNode(name.nextSibling)
  const [end, next] = [[...name.getClientRects()].at(-1), after.getClientRects()[0]]
  return next?.left < end.right - 1 && Math.abs(end.top - next.top) < 8
}).length`

/** How many tables, which are cards on a phone, are wider than their frame. */
const cutCards = `[...document.querySelectorAll('.scroller')]
  .filter((frame) => frame.scrollWidth > frame.clientWidth).length`

async function checkText(page: Page, what: string): Promise<void> {
  assert.equal(await page.locator(foreign).count(), 0, `${what}: no markup`)
  assert.ok((await overflowOf(page)) <= 0, `${what}: nothing is wider than the page`)
}

export function testHostileTexts(): void {
  test('markup, marks of direction and endless words stay text in every view', async (t) => {
    const registry = await serveRegistry(t)
    const [name = '', ...others] = hostile
    await registry.load('companies', [
      {
        id: 1,
        jurisdiction: 'GB',
        identifier: '1',
        name: name + ' x'.repeat(400),
        status: 'x'.repeat(300),
        ...Object.fromEntries(others.map((text, n) => [`field_${n}`, text])),
      },
    ])
    const recordsOf = (resource: Resource, fieldsOf: (text: string) => object) => {
      const make = (text: string, n: number) =>
        makeRecord(resource, { id: n + 1, ...fieldsOf(text) })
      return { resource, company: 1, records: hostile.map(make) }
    }
    await registry.store.load([
      recordsOf(rights, (text) => ({ name: text, status: text.slice(0, 200), holders: hostile })),
      // What is the same in all rows is shown above them.
      recordsOf(employees, (text) => ({ name: text, position: text, identifier: 'x'.repeat(99) })),
      recordsOf(changeResource, (text) => {
        return { attr: text.slice(0, 200), before: text, after: hostile[0] }
      }),
    ])
    for (const width of [1280, 320]) {
      const page = await registry.visit('/companies/1', { width })
      const head = page.getByRole('heading', { level: 1 })
      await head.getByText(name).waitFor()
      assert.ok(((await head.boundingBox())?.height ?? Infinity) < 170, 'the name leaves space')
      await page.getByRole('link', { name: /^Rights 7/ }).waitFor()
      await checkText(page, 'overview')
      for (const link of [/^Rights/, /^Employees/, /^Events/]) {
        await page.getByRole('link', { name: link }).first().click()
        await page.getByText('1–7 of 7').waitFor()
        await page.getByRole('figure').waitFor()
        await checkText(page, String(link))
        for (const more of await page.getByRole('button', { name: 'more', exact: true }).all()) {
          if (await more.isVisible()) await more.click()
        }
        await checkText(page, `${String(link)}, opened`)
        if (width === 320)
          assert.equal(await page.evaluate(cutCards), 0, `${String(link)}: cut off`)
      }
      await page.evaluate('location.hash = "#/companies/1/differences?from=1&to=4"')
      await page.locator('.difference', { hasText: 'Events' }).waitFor()
      await checkText(page, 'differences')
      for (const text of await page.locator('.difference-list > li').allInnerTexts()) {
        assert.ok(text.length < 1_000, `a record of ${text.length} characters`)
      }
      assert.equal(await page.evaluate(turned), 0, 'no mark of direction turns what follows it')
      await page.evaluate('location.hash = "#/companies/1/print"')
      await page.getByRole('region', { name: 'Events' }).getByRole('table').waitFor()
      await checkText(page, 'print')
      await checkAccessible(page, `hostile texts, ${width} px`)
    }
  })

  test('a long text is cut, and can be expanded and cut again', async (t) => {
    const registry = await serveRegistry(t)
    const text = 'word '.repeat(100).trim()
    for (const name of ['Short', text]) {
      await registry.load('companies', [{ id: 1, jurisdiction: 'GB', identifier: '1', name }])
      const record = makeRecord(rights, { id: 1, name })
      await registry.store.load([{ resource: rights, company: 1, records: [record] }])
    }
    const page = await registry.visit('/companies/1/rights')
    const more = page.getByRole('button', { name: 'more', exact: true })
    assert.equal(await more.getAttribute('aria-expanded'), 'false')
    const whole = page.locator('tbody').getByText(text)
    assert.equal(await whole.count(), 0)
    await more.click()
    await whole.waitFor()
    await page.getByRole('button', { name: 'less', exact: true }).click()
    await more.waitFor()
    await page.evaluate('location.hash = "#/companies/1"')
    await page.getByRole('heading', { name: 'On record' }).waitFor()
    await more.waitFor()
    // What a short text has become meanwhile is cut, too.
    for (const view of ['/companies/1?version=2', '/companies/1/rights?version=2']) {
      await page.evaluate(`location.hash = "#${view}"`)
      await page.locator('.was-now', { hasText: /^now word (?:word )+… more$/ }).waitFor()
    }
    // Paper has no buttons.
    await page.evaluate('location.hash = "#/companies/1/print"')
    await page.locator('.sources').getByText(text).waitFor()
  })

  test('a long word of an attribute leaves a comparison as narrow as a phone', async (t) => {
    const registry = await serveRegistry(t)
    for (const letter of ['x', 'y']) {
      const activity = letter.repeat(100)
      await registry.load('companies', [{ id: 1, jurisdiction: 'GB', identifier: '1', activity }])
    }
    const page = await registry.visit('/companies/1/differences', { width: 390 })
    await page.getByText('What each source says').waitFor()
    await checkText(page, 'differences')
  })

  test('a name that is read from the right is cut at its left', async (t) => {
    const registry = await serveRegistry(t)
    const [, , , name = ''] = hostile
    const record = makeRecord(employees, { id: 1, name: `${name} `.repeat(9) })
    await registry.store.load([{ resource: employees, company: 1, records: [record] }])
    const page = await registry.visit('/companies/1/employees')
    const placeOf = (letter: string) => `(() => {
      const label = document.querySelector('.plot .label')
      return label.getStartPositionOfChar(label.textContent.${letter}).x
    })()`
    await page.locator('.plot .label').waitFor()
    const first = Number(await page.evaluate(placeOf('search(/./)')))
    const last = Number(await page.evaluate(placeOf('indexOf("…")')))
    assert.ok(last < first - 50, `the end at ${last} px, the beginning at ${first} px`)
  })

  test('a long value leaves space in a card, and its filter keeps its cross', async (t) => {
    const registry = await serveRegistry(t)
    const bank = 'Bank '.repeat(180).trim()
    await registry.load('pos_terminals', [
      { company_id: 1, id: 1, bank_name: bank },
      { company_id: 1, id: 2, bank_name: bank },
    ])
    const page = await registry.visit('/companies/1')
    const card = page.locator('.card', { hasText: 'POS terminals' })
    await card.getByText(bank).waitFor()
    assert.ok(((await card.boundingBox())?.height ?? Infinity) < 300)
    await card.getByText(bank).click()
    const chip = page.getByRole('button', { name: /^Remove the filter Bank name/ })
    await chip.waitFor()
    assert.ok(((await chip.boundingBox())?.height ?? Infinity) < 110)
    assert.equal((await chip.locator('svg').boundingBox())?.width, 10)
  })

  test('hostile names in search results stay text', async (t) => {
    const registry = await serveRegistry(t)
    await registry.load(
      'companies',
      hostile.map((text, n) => ({
        jurisdiction: 'GB',
        identifier: String(n),
        name: `Acme ${text}`,
      })),
    )
    const page = await registry.visit('/', { width: 320 })
    await page.getByRole('searchbox').fill('acme')
    await page.getByText('7 companies').waitFor()
    await checkText(page, 'search')
  })
}
