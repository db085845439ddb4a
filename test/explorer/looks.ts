// For everybody: no fault that axe knows, nothing to scroll sideways on narrow screens and at 200 %
// zoom, no label over another, and print.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAccessible } from './accessibility.ts'
import { bench, overflowOf, untilLoaded, visit, visitDemo } from './browser.ts'

/** Every kind of view; the last ones open something. */
const views = [
  ...['/', '/companies/1', '/companies/1/rights?status=pending', '/companies/1/employees'],
  ...['/companies/1/jobs', '/companies/1/pos_terminals', '/companies/1/events'],
  ...['/companies/1/differences?from=2&to=6', '/companies/3/print'],
  '/companies/1/employees?version=3',
]

/** Every picture, and some of them zoomed. */
const drawn = [
  ...['/companies/1/rights', '/companies/1/employees'],
  ...['/companies/1/events', '/companies/2/events'],
  '/companies/2/events?date[gte]=2012-01-01&date[lte]=2012-04-30',
  '/companies/2/events?date[gte]=2012-01-01&date[lte]=2012-01-06',
  '/companies/1/events?date[gte]=2021-12-30&date[lte]=2023-01-02',
  '/companies/1/rights?status=pending&object_type=patent',
]

/** The labels that leave their picture, or meet another one, as texts. */
const faultyLabels = `[...document.querySelectorAll('.plot svg')].flatMap((svg) => {
  const frame = svg.getBoundingClientRect()
  const labels = [...svg.querySelectorAll('text')]
    .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }))
  return labels.flatMap(({ text, box }, at) => {
    const isCut = box.left < frame.left - 1 || box.right > frame.right + 1
    const others = labels.slice(at + 1).filter(({ box: other }) =>
      box.left < other.right && other.left < box.right &&
      box.top + 3 < other.bottom - 3 && other.top + 3 < box.bottom - 3)
    return [...(isCut ? [text + ' is cut'] : []), ...others.map((one) => text + ' on ' + one.text)]
  })
})`

export function testLooks(): void {
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 320],
  ] as const) {
    test(`every view is accessible, ${scheme}, ${width} px wide and at 200 % zoom`, async (t) => {
      const page = await visitDemo(t, '/companies/1', { scheme, width })
      for (const view of views) {
        await page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`)
        await untilLoaded(page)
        assert.ok((await overflowOf(page)) <= 0, `${view} is wider than the window`)
        await checkAccessible(page, view)
        if (width !== 1280) continue
        // A window of 1280 pixels at 200 % has 640 pixels of CSS.
        await page.setViewportSize({ width: 640, height: 450 })
        await untilLoaded(page)
        assert.ok((await overflowOf(page)) <= 0, `${view} is cut off`)
        await page.setViewportSize({ width, height: 900 })
      }
      for (const menu of ['Download and share', 'Position', 'Start date']) {
        await page.locator('.opener', { hasText: menu }).click()
        await checkAccessible(page, menu)
        await page.keyboard.press('Escape')
        assert.equal(await page.locator('.panel').count(), 0)
      }
    })
  }

  test('the guide is accessible, and narrow enough for a phone', async (t) => {
    const page = await visit(t, `${bench().url}/docs/guide`)
    await checkAccessible(page, 'the guide')
    await page.setViewportSize({ width: 320, height: 900 })
    await checkAccessible(page, 'the guide on a phone')
    assert.ok((await overflowOf(page)) <= 0, 'the guide is wider than the window')
  })

  test('the first stop of the keyboard skips to the content', async (t) => {
    const page = await visitDemo(t, '/companies/1')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'main')
    assert.match(page.url(), /#\/companies\/1$/)
  })

  test('no label of a picture is cut or overlaps another, 1280 to 320 px wide', async (t) => {
    const page = await visitDemo(t, '/companies/1')
    for (const view of drawn) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`)
      for (const width of [1280, 390, 320]) {
        await page.setViewportSize({ width, height: 900 })
        await page.locator('.plot svg').first().waitFor()
        await untilLoaded(page)
        const drawnWidth = (await page.locator('.plot svg').first().boundingBox())?.width ?? 0
        assert.ok(drawnWidth > width / 2 && drawnWidth <= width, `${drawnWidth} of ${width}`)
        assert.deepEqual(await page.evaluate(faultyLabels), [], `${view}, ${width} px wide`)
      }
    }
  })

  test('on a narrow screen, all tabs are in sight, and so is what orders the cards', async (t) => {
    const page = await visitDemo(t, '/companies/1/events', { width: 320 })
    await untilLoaded(page)
    const tabs = await page.locator('.tabs a').all()
    assert.equal(tabs.length, 6)
    for (const tab of tabs) {
      const box = (await tab.boundingBox()) ?? assert.fail()
      assert.ok(box.x >= 0 && box.x + box.width <= 320, JSON.stringify(box))
    }
    await page.getByRole('table').getByRole('button', { name: 'Date' }).click()
    await page.locator('[aria-sort=ascending]', { hasText: 'Date' }).waitFor()
  })

  test('the pager and the field for a key fit into the narrowest windows; the field is accessible', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights', { width: 200 })
    await untilLoaded(page)
    assert.ok((await overflowOf(page)) <= 0)
    await page.getByRole('button', { name: 'Forget key' }).click()
    await page.getByLabel('Your key').waitFor()
    assert.ok((await overflowOf(page)) <= 0)
    await checkAccessible(page, 'the field for a key')
  })

  test('with forced colors, the open tab can be told apart', async (t) => {
    const page = await visitDemo(t, '/companies/1/events')
    await page.emulateMedia({ forcedColors: 'active' })
    await untilLoaded(page)
    const line = (which: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('.tabs a${which}')).borderBottomStyle`)
    const styles = [await line('[aria-current]'), await line(':not([aria-current])')]
    assert.deepEqual(styles, ['solid', 'none'])
  })

  test('the search of a narrow screen keeps its results on the screen', async (t) => {
    const page = await visitDemo(t, '/companies/1', { width: 320 })
    await page.getByRole('searchbox').fill('plover')
    await page
      .getByRole('link', { name: /^Ploverhollow/ })
      .first()
      .waitFor()
    const box = (await page.locator('.results').boundingBox()) ?? assert.fail()
    assert.ok(box.x >= 0 && box.x + box.width <= 320, JSON.stringify(box))
  })

  test('a table that is wider than its frame says so until its end', async (t) => {
    const page = await visitDemo(t, '/companies/1/employees', { width: 768 })
    const hint = page.getByText('More columns to the right →')
    await hint.waitFor()
    await page.evaluate('document.querySelector(".scroller").scrollTo(9999, 0)')
    await hint.waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 1600, height: 900 })
    await hint.waitFor({ state: 'detached' })
  })

  test('where one touches, no hint speaks of keys, and a tap reads out a value', async (t) => {
    const page = await visitDemo(t, '', { width: 390 })
    const search = page.getByText('Press / to search from anywhere.')
    await search.waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await search.waitFor({ state: 'hidden' })
    for (const view of ['rights', 'employees', 'events']) {
      await page.evaluate(`location.hash = '#/companies/1/${view}'`)
      await untilLoaded(page)
      const hint = page.getByText('Use the arrow keys to read the values.')
      assert.equal(await hint.count(), 1, view)
      assert.ok(await hint.isHidden(), view)
      const plot = page.locator('.plot svg')
      await plot.scrollIntoViewIfNeeded()
      const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {}
      const at = { x: x + width * 0.6, y: y + 20 }
      await session.send('Input.synthesizeTapGesture', { ...at, gestureSourceType: 'touch' })
      await page.locator('.readout strong').waitFor()
    }
  })

  test('print has the whole company, with its version and sources', async (t) => {
    const page = await visitDemo(t, '/companies/1/rights?version=5')
    await page.getByText('1–25 of 230').waitFor()
    let requests = 0
    page.on('request', () => (requests += 1))
    await page.keyboard.press('Control+p')
    await page.waitForURL(/\/companies\/1\/print\?version=5$/)
    const print = page.getByRole('button', { name: 'Print', exact: true })
    const sources = page.getByRole('heading', { name: 'What each source said' })
    const [button, heading] = [await print.boundingBox(), await sources.boundingBox()]
    assert.ok(button !== null && heading !== null && button.y < heading.y, 'Print comes first')
    await print.click()
    assert.ok(requests <= 10, `${requests} requests`)
    await page.emulateMedia({ media: 'print' })
    const tables = { Rights: 230, Employees: 140, Jobs: 24, 'POS terminals': 36 }
    for (const [title, count] of Object.entries(tables)) {
      const section = page.getByRole('region', { name: title, exact: true })
      assert.equal(await section.getByRole('row').count(), count + 1, title)
    }
    // Version 6 has brought the events.
    await page.getByText('This company had no events on record.').waitFor()
    await page.evaluate('location.hash = "#/companies/2901/pos_terminals"')
    const none = await page.locator('.empty').innerText()
    assert.equal(none, 'This company has no POS terminals on record.')
    await page.goBack()
    await page.getByText('This company had no events on record.').waitFor()
    const printed = await page.locator('.printed').innerText()
    assert.match(printed, /^Printed .+ from http.+version=5\. Version 5, imported .+\.$/)
    assert.ok(await sources.isVisible())
    assert.ok(await page.getByRole('columnheader', { name: 'demo' }).isVisible())
    assert.ok(!(await page.getByRole('button', { name: 'Download and share' }).isVisible()))
    assert.ok(!(await page.getByRole('searchbox').isVisible()))
    assert.ok((await page.pdf()).length > 10_000)
  })
}
