// The explorer in a real Chromium: on the demo, with its company of 250,000 events, and on
// registries of a few records. One browser and one demo serve all tests.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite } from 'node:test'
import { startDossier } from '../support/run-dossier.ts'
import { type Bench, findBrowser, launchBrowser } from './browser.ts'
import { testErrors } from './errors.ts'
import { testFinding } from './finding.ts'
import { testHostileTexts } from './hostile-texts.ts'
import { testListings } from './listings.ts'
import { testLooks } from './looks.ts'
import { testPictures } from './pictures.ts'
import { testTaking } from './taking.ts'
import { testVersions } from './versions.ts'

const path = findBrowser()
const skip = path === undefined && 'there is no Chromium; install one, or name it in CHROME_PATH'

suite('the explorer in a browser', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
  let bench: Bench | undefined
  const endings: (() => unknown)[] = []
  // A hook that a hook registers would run at the end of that hook.
  const scope = { after: (ending: () => unknown) => void endings.push(ending) }

  before(async () => {
    const launching = launchBrowser(path ?? '')
    const running = startDossier(scope, folder, ['demo', '--port', '0'])
    await running.until(/Ctrl-C\n/)
    const [demo = '', url = '', key = ''] =
      /(http:\S+)\/#key=(dossier_\w+)\S*/.exec(running.said.out) ?? assert.fail(running.said.out)
    const at = (path: string) => `${url}/#key=${key}${path}`
    bench = { browser: await launching, demo, url, key, at }
  })
  after(async () => {
    await bench?.browser.close()
    for (const ending of endings) ending()
    rmSync(folder, { recursive: true, force: true })
  })

  const given = () => bench ?? assert.fail('the demo has not started')
  testFinding(given)
  testListings(given)
  testPictures(given)
  testVersions(given)
  testTaking(given)
  testErrors(given)
  testHostileTexts(given)
  testLooks(given)
})
