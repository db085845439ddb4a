// The explorer in a real Chromium: on the demo, with its company of 250,000 events, and on
// registries of a few records. One browser and one demo serve all tests.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite } from 'node:test'
import { findBrowser, startBench, stopBench } from './browser.ts'
import { testErrors } from './errors.ts'
import { testFinding } from './finding.ts'
import { testHostileTexts } from './hostile-texts.ts'
import { testListings } from './listings.ts'
import { testLooks } from './looks.ts'
import { testPictures } from './pictures.ts'
import { testReference } from './reference.ts'
import { testSlowAnswers } from './slow-answers.ts'
import { testSources } from './sources.ts'
import { testTaking } from './taking.ts'
import { testVersions } from './versions.ts'
import { testWithheld } from './withheld.ts'

const path = findBrowser()
const skip = path === undefined && 'there is no Chromium; install one, or name it in CHROME_PATH'

suite('the explorer in a browser', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))

  before(() => startBench(path ?? '', folder))
  after(async () => {
    await stopBench()
    rmSync(folder, { recursive: true, force: true })
  })

  testFinding()
  testListings()
  testPictures()
  testVersions()
  testSources()
  testWithheld()
  testTaking()
  testSlowAnswers()
  testErrors()
  testHostileTexts()
  testLooks()
  testReference()
})
