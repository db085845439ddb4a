// Takes the README's screenshots of the explorer, from the demo, in the Chromium of this machine.
//
//   node scripts/take-screenshots.ts

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { findBrowser, launchBrowser, untilLoaded } from '../test/explorer/browser.ts'
import { type Demo, startDemo } from '../test/explorer/demo.ts'

const root = join(import.meta.dirname, '..')
const target = join(root, 'docs/images')

const shots = [
  {
    name: 'explorer-changes',
    view: '/companies/1/events',
    scheme: 'light',
    height: 930,
    at: [520, 420],
  },
  {
    name: 'explorer-people',
    view: '/companies/1/employees',
    scheme: 'dark',
    height: 760,
    at: [700, 480],
  },
] as const

async function takeShot(
  context: BrowserContext,
  demo: Demo,
  { name, view, scheme, height, at: [x, y] }: (typeof shots)[number],
): Promise<void> {
  const page = await context.newPage()
  await page.setViewportSize({ width: 1120, height })
  await page.emulateMedia({ colorScheme: scheme })
  await page.goto(demo.at(view))
  await page.locator('.picture svg.brushable').waitFor()
  await untilLoaded(page)
  // The line under a picture reads out the place that one points at.
  await page.mouse.move(x, y)
  await page.locator('.readout strong').waitFor()
  const path = join(target, `${name}.png`)
  await page.screenshot({ path })
  console.log(path)
  await page.close()
}

const browser = findBrowser()
if (browser === undefined) {
  console.error('there is no Chromium; install one, or name it in CHROME_PATH')
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'dossier-screenshots-'))
const demo = await startDemo(folder)
try {
  mkdirSync(target, { recursive: true })
  const context = await launchBrowser(browser)
  for (const shot of shots) await takeShot(context, demo, shot)
  await context.close()
} finally {
  demo.stop()
  rmSync(folder, { recursive: true, force: true })
}
