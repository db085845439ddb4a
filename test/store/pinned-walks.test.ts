// Readers walk listings that are pinned to a version while imports, reverts and prunes go on: each
// walk is, byte for byte, the listing of its version, or told of the prune (contract 9.1, 9.3).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { rights } from '../../src/resources/rights.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { textOf } from '../../src/store/record-texts.ts'
import { wholeListing } from '../../src/store/selection.ts'
import { importRows, queryStore } from '../support/import-rows.ts'
import { openReader } from '../support/open-reader.ts'
import { runStep, type Step, step } from '../support/random-steps.ts'
import { readListing } from '../support/read-listing.ts'
import { runsOf, seed } from '../support/store-at.ts'
import { makeSoundStore } from '../support/verify-store.ts'

const isOfRights = (one: Step) => one.kind !== 'import' || one.target === 'rights'

/** A listing page by page; undefined if its version was pruned meanwhile. */
async function walk(reader: StoreReader, companyId: number, version: number) {
  const texts: string[] = []
  for (let offset = 0, selected = 1; offset < selected; offset += 2) {
    const page = await reader.readPage({ ...wholeListing(rights, companyId), version }, offset, 2)
    assert.ok(page !== undefined)
    if ('outside' in page) {
      assert.equal(page.outside, 'pruned')
      return undefined
    }
    assert.equal(page.dataVersion, version)
    selected = page.selected
    texts.push(textOf(page.records))
    await nextTurn()
  }
  return texts.join(',')
}

test(`walks stay on their version, whatever is written meanwhile (seed ${seed})`, async (t) => {
  const db = makeSoundStore(t)
  const rows = Array.from({ length: 12 }, (_, n) => ({ id: n + 1, company_id: 1 + (n % 2) }))
  await importRows(db, 'rights', rows)
  const reader = await openReader(t, db)
  /** What was served of the companies once a version was the last one. */
  const served: { company: number; version: number; text: string }[] = []
  let isOver = false
  let walks = 0

  async function write(): Promise<void> {
    const steps = fc.sample(step.filter(isOfRights), { seed, numRuns: Math.max(24, runsOf(100)) })
    for (const [day, one] of [undefined, ...steps].entries()) {
      // Not by the reader, which is in a transaction of some walk.
      const [now] = await queryStore(
        db,
        'select max(version) as latest, max(past_from) as earliest from imports, store',
      )
      const [latest, earliest] = [Number(now?.['latest']), Number(now?.['earliest'])]
      if (one !== undefined) await runStep(db, one, { day, latest, earliest })
      for (const company of [1, 2]) {
        const page = (await readListing(reader, rights, company)) ?? assert.fail()
        served.push({ company, version: page.dataVersion, text: page.text })
      }
    }
  }

  async function keepWalking(): Promise<void> {
    while (!isOver) {
      await nextTurn()
      const one = served.at(-1 - (walks % Math.min(served.length, 12)))
      if (one === undefined) continue
      walks += 1
      const found = await walk(reader, one.company, one.version)
      if (found !== undefined) assert.equal(found, one.text, `${one.company} at ${one.version}`)
    }
  }

  const writing = write().finally(() => (isOver = true))
  await Promise.all([writing, ...Array.from({ length: 4 }, keepWalking)])
  assert.ok(walks > served.length)
})
