// The explorer in a real Chromium: from an address to the first sight of a company, and from a
// click on a tab to its records, measured in the page up to the frame that shows them; and how long
// a page of 1,000 records keeps the browser from anything else at a time.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { findBrowser, launchBrowser } from '../test/explorer/browser.ts'
import { startDemo } from '../test/explorer/demo.ts'
import { type Figure, figure } from './figures.ts'
import { folder } from './files.ts'

const rounds = 7

/** Measures the explorer on the demo; without a browser there is nothing to measure. */
export async function explore(): Promise<Figure[]> {
  const path = findBrowser()
  if (path === undefined) {
    console.error('there is no Chromium; install one, or name it in CHROME_PATH')
    return []
  }
  const demos = join(folder, 'explorer')
  mkdirSync(demos, { recursive: true })
  const demo = await startDemo(demos)
  try {
    const firstSight: number[] = []
    const tab: number[] = []
    const longTab: number[] = []
    const manyRows: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      // A new browser each time: nothing is in its cache.
      const context = await launchBrowser(path)
      firstSight.push(await seeFirst(context, demo.at('/companies/1')))
      const page = context.pages()[0] ?? (await context.newPage())
      tab.push(await clickTab(page, 'Employees', '.range'))
      await page.goto('about:blank')
      await seeFirst(context, demo.at('/companies/2'), page)
      longTab.push(await clickTab(page, 'Events', '.range'))
      manyRows.push(await showMany(page))
      await context.close()
    }
    return [
      figure('explorer, first sight', 'ms', firstSight, { most: 1_000 }),
      figure('explorer, a tab of the demo', 'ms', tab, { most: 150 }),
      figure('explorer, a tab of 250,000 events', 'ms', longTab, { most: 300 }),
      figure('explorer, longest task of 1,000 rows', 'ms', manyRows, { most: 200 }),
    ]
  } finally {
    demo.stop()
  }
}

/** Milliseconds from the navigation to the sight of a company and its tabs. */
async function seeFirst(context: BrowserContext, address: string, open?: Page): Promise<number> {
  const page = open ?? (await context.newPage())
  const startedAt = performance.now()
  await page.goto(address)
  await page.locator('.tabs .count').first().waitFor()
  return performance.now() - startedAt
}

/** Milliseconds from a click on a tab to the frame in which an element is there. */
async function clickTab(page: Page, tab: string, awaited: string): Promise<number> {
  // Text, since this code runs in the page; no value in it comes from outside.
  return page.evaluate<number>(`new Promise((done) => {
    const links = [...document.querySelectorAll('.tabs a')]
    const link = links.find(({ textContent }) => textContent.startsWith('${tab}'))
    const startedAt = performance.now()
    link.click()
    const look = () => document.querySelector('${awaited}') === null
      ? requestAnimationFrame(look)
      : requestAnimationFrame(() => done(performance.now() - startedAt))
    requestAnimationFrame(look)
  })`)
}

/** Milliseconds of the longest task from an address to the last of its 1,000 rows. */
async function showMany(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((done) => {
    let longest = 0
    const note = (list) => list.getEntries().forEach(({ duration }) => {
      longest = Math.max(longest, duration)
    })
    new PerformanceObserver(note).observe({ type: 'longtask' })
    location.hash = location.hash.split('?')[0] + '?limit=1000'
    const look = () => document.querySelectorAll('.records tbody tr').length < 1000
      ? requestAnimationFrame(look)
      : setTimeout(() => done(longest), 500)
    look()
  })`)
}
