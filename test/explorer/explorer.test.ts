// The explorer in a real Chromium: on the demo, with its company of 250,000 events, and on
// registries of a few records. One browser and one demo serve all tests.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite } from 'node:test'
import { type Bench, findBrowser, launchBrowser } from './browser.ts'
import { startDemo } from './demo.ts'
import { testErrors } from './errors.ts'
import { testFinding } from './finding.ts'
import { testHostileTexts } from './hostile-texts.ts'
import { testListings } from './listings.ts'
import { testLooks } from './looks.ts'
import { testPictures } from './pictures.ts'
import { testReference } from './reference.ts'
import { testTaking } from './taking.ts'
import { testVersions } from './versions.ts'

const path = findBrowser()
const skip = path === undefined && 'there is no Chromium; install one, or name it in CHROME_PATH'

suite('the explorer in a browser', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
  let bench: Bench | undefined

  before(async () => {
    const launching = launchBrowser(path ?? '')
    const demo = await startDemo(folder)
    bench = { ...demo, browser: await launching }
  })
  after(async () => {
    await bench?.browser.close()
    bench?.stop()
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
  testReference(given)
})
