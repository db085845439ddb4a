// A real Chromium, found on this machine: the tests bring none.

import assert from 'node:assert/strict'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { patienceMs } from '../support/until.ts'
import { type Demo, startDemo } from './demo.ts'

/** The shell without a window takes two thirds of the browser's processor time. */
const names = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser'],
  ...['google-chrome', 'google-chrome-stable', 'chrome'],
]
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of a browser: CHROME_PATH, or a usual name; undefined if there is none. */
export function findBrowser(): string | undefined {
  const { CHROME_PATH: named, PATH = '' } = process.env
  if (named !== undefined && named !== '') {
    assert.ok(existsSync(named), `CHROME_PATH is ${named}, which does not exist`)
    return named
  }
  const folders = PATH.split(delimiter).filter((folder) => folder !== '')
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  return [...paths, ...elsewhere].find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts the browser that `findBrowser` has found. */
export async function launchBrowser(
  executablePath: string,
  options: readonly string[] = [],
): Promise<BrowserContext> {
  // Tests run as root in containers, where Chromium has no sandbox of its own.
  const args = process.getuid?.() === 0 ? [...options, '--no-sandbox'] : options
  const browser = await chromium.launch({
    executablePath,
    args: [...args, '--disable-dev-shm-usage'],
  })
  const context = await browser.newContext({ acceptDownloads: true })
  context.once('close', () => void browser.close())
  return context
}

/** What the tests look at. */
interface Bench extends Demo {
  readonly browser: BrowserContext
}

let started: Bench | undefined

/** Starts a browser, and the demo in a folder. */
export async function startBench(executablePath: string, folder: string): Promise<void> {
  const launching = launchBrowser(executablePath, [
    '--renderer-process-limit=1',
    '--in-process-gpu',
  ])
  started = { ...(await startDemo(folder)), browser: await launching }
  // Keeps the one process of all tabs: to start it takes as long as a page of the explorer does.
  await started.browser.newPage()
}

export async function stopBench(): Promise<void> {
  await started?.browser.close()
  started?.stop()
}

/** The demo that all tests share, and their browser. */
export const bench = () => started ?? assert.fail('the demo has not started')

export interface VisitOptions {
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
  /** Errors that the browser reports of requests that are meant to fail. */
  readonly expected?: RegExp
}

/** Asks the demo for a path of its API, as any client does. */
export async function askDemo(path: string): Promise<string> {
  const { url, key } = bench()
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/api/v1/${path}`, { headers })
  assert.equal(answer.status, 200, path)
  return answer.text()
}

/** Opens a view of the demo, with its key, in a tab of its own. */
export function visitDemo(t: TestContext, view: string, options?: VisitOptions): Promise<Page> {
  return visit(t, bench().at(view), options)
}

/**
 * Opens a tab: its session storage is its own, while the files of the page are loaded once for all
 * tests. What the browser reports as an error, violations of the page's policy included, fails the
 * test.
 */
export async function visit(
  t: TestContext,
  url: string,
  { width = 1280, height = 900, scheme = 'light', expected }: VisitOptions = {},
): Promise<Page> {
  const page = await bench().browser.newPage()
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme })
  page.setDefaultTimeout(patienceMs)
  const faults: string[] = []
  const note = (text: string) => {
    if (expected?.test(text) !== true) faults.push(text)
  }
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(message.text())
  })
  page.on('pageerror', (error) => note(String(error)))
  tabsOf(t).push({ page, faults })
  await page.goto(url)
  return page
}

/** A tab, and what the browser has reported as an error. */
interface Tab {
  readonly page: Page
  readonly faults: readonly string[]
}

const tabs = new WeakMap<TestContext, Tab[]>()

/**
 * The tabs of a test. They are closed before what the test sets up after the first call: a server
 * that stops before them would reset what they are just loading.
 */
export function tabsOf(t: TestContext): Tab[] {
  const known = tabs.get(t)
  if (known !== undefined) return known
  const own: Tab[] = []
  tabs.set(t, own)
  t.after(async () => {
    for (const { page, faults } of own) {
      await page.close()
      assert.deepEqual(faults, [], 'the browser reports no error')
    }
  })
  return own
}

/** Waits until a view has loaded everything. */
export async function untilLoaded(page: Page): Promise<void> {
  const busy = 'main [aria-busy=true], main .waiting, main .waiting-picture, main .stale'
  // Twice, since a view may begin to load more when it is shown.
  for (let turn = 0; turn < 2; turn += 1) {
    await page.locator(busy).first().waitFor({ state: 'detached' })
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
  }
}

/** The addresses that a page asks for from now on. */
export function requestsOf(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  return asked
}

/** The query in the page's address, which is that of the API. */
export const queryOf = (page: Page) => new URL(page.url()).hash.split('?')[1] ?? ''

/**
 * Holds answers of the API back from now on, as a slow network does.
 *
 * @returns lets them come, with all later ones.
 */
export async function holdAnswers(page: Page, which: RegExp = /\/api\/v1\//) {
  const held: (() => Promise<void>)[] = []
  await page.route(which, (route) => void held.push(() => route.continue()))
  return async () => {
    await page.unroute(which)
    // What was asked in vain meanwhile has been given up.
    for (const release of held) await release().catch(() => undefined)
  }
}

/** How much of the page has moved by itself, as browsers measure it: 0.1 is what they call good. */
export async function shiftOf(page: Page): Promise<number> {
  const sum = `new Promise((done) => {
    let sum = 0
    const add = (list) => list.getEntries().forEach(({ value }) => (sum += value))
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => done(sum), 100)
  })`
  return Number(await page.evaluate(sum))
}

/** How much wider the page is than the window, in pixels. */
export async function overflowOf(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
}
