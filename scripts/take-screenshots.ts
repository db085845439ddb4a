// Takes the README's screenshots of the explorer, from the demo, in the Chromium of this machine.
//
//   node scripts/take-screenshots.ts

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { findBrowser, launchBrowser, untilLoaded } from '../test/explorer/browser.ts'

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
  address: string,
  { name, view, scheme, height, at: [x, y] }: (typeof shots)[number],
): Promise<void> {
  const page = await context.newPage()
  await page.setViewportSize({ width: 1120, height })
  await page.emulateMedia({ colorScheme: scheme })
  await page.goto(address + view)
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
const demo = spawn(join(root, 'bin/dossier'), ['demo', '--port', '0'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
})
let printed = ''
demo.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
while (!printed.includes('Ctrl-C') && demo.exitCode === null) {
  await new Promise((done) => setTimeout(done, 100))
}
const [address] = /http:\S+\/#key=dossier_\w+/.exec(printed) ?? []
try {
  if (address === undefined) throw new Error(`the demo did not start: ${printed}`)
  mkdirSync(target, { recursive: true })
  const context = await launchBrowser(browser)
  for (const shot of shots) await takeShot(context, address, shot)
  await context.close()
} finally {
  demo.kill()
  rmSync(folder, { recursive: true, force: true })
}
