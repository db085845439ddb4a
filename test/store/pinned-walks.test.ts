// Readers walk listings that are pinned to a version while imports insert, change, move, remove,
// revert and prune: each walk is, byte for byte, the listing of its version (contract 9.1).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { rights } from '../../src/resources/rights.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/reading.ts'
import { textOf } from '../../src/store/record-texts.ts'
import { type Selection, wholeListing } from '../../src/store/selection.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'
import { one, prune, revert } from '../support/write-store.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const imports = Math.max(12, runsOf(100))
const companies = [1, 2]
const recordsMax = 60
const walkers = 4

/** Random numbers that the seed repeats. */
const numbers = fc.sample(fc.nat(), { numRuns: 60_000, seed })
const random = (below: number) => (numbers.pop() ?? 0) % below

async function write(db: string, folder: string, n: number): Promise<void> {
  const kind = n < 3 ? 0 : random(8)
  if (kind === 6) {
    await prune(db, Date.now() - 1)
    return
  }
  if (kind === 7) {
    const { last, earliest } = await versionsOf(db)
    if (last > earliest) await revert(db, one(last))
    return
  }
  // Ids are few, so that records change and move between the companies.
  const ids = new Set(Array.from({ length: 1 + random(25) }, () => 1 + random(recordsMax)))
  const rows = [...ids].map((id) => ({
    ...{ id, company_id: companies[random(2)], name: `${n} ${'x'.repeat(random(900))}` },
    status: ['registered', 'ended'][random(2)],
  }))
  await importRows(join(folder, 'rows'), 'rights', rows, { at: db, isSnapshot: kind === 5 })
}

/** The last version, and the earliest one of which the state before it is known. */
async function versionsOf(db: string): Promise<{ last: number; earliest: number }> {
  const reader = await openStoreReader(db, patientBounds)
  const { version, earliestVersion } = await reader.readRegistry()
  await reader.close()
  return { last: version, earliest: earliestVersion }
}

const selectionOf = (companyId: number, version: number | undefined): Selection => ({
  ...wholeListing(rights, companyId),
  version,
})

/** A listing page by page; undefined if its version was pruned meanwhile. */
async function walk(
  reader: StoreReader,
  companyId: number,
  version: number,
): Promise<string | undefined> {
  const texts: string[] = []
  for (let offset = 0, selected = 1; offset < selected; offset += 7) {
    const page = await reader.readPage(selectionOf(companyId, version), offset, 7)
    if (page === undefined) return ''
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

test(`walks are of their version, whatever is written meanwhile (seed ${seed})`, async (t) => {
  const folder = makeFolder(t)
  const db = storeAt(join(folder, 'registry.db'))
  await write(db, folder, 0)
  const reader = await openStoreReader(db, patientBounds)
  t.after(() => reader.close())
  /** What was served of each company at each version, once it was the last one. */
  const served = new Map<string, string>()
  let isOver = false
  let walks = 0
  let pruned = 0

  async function note(): Promise<void> {
    for (const company of companies) {
      const page = await readListing(reader, rights, company)
      if (page !== undefined) served.set(`${company} ${page.dataVersion}`, page.text)
    }
  }

  async function keepWalking(): Promise<void> {
    while (!isOver) {
      const [key = '', listing] = [...served].at(-1 - random(Math.min(served.size, 12))) ?? []
      const [company, version] = key.split(' ').map(Number)
      const found = await walk(reader, company ?? 0, version ?? 0)
      if (found === undefined) pruned += 1
      else assert.equal(found, listing, `company ${company} at version ${version}`)
      walks += 1
      await nextTurn()
    }
  }

  await note()
  const all = Array.from({ length: walkers }, keepWalking)
  const writing = (async () => {
    for (let n = 1; n < imports; n += 1) {
      await write(db, folder, n)
      await note()
    }
  })().finally(() => (isOver = true))
  await Promise.all([writing, ...all])
  t.diagnostic(`${imports} writes, ${walks} walks, ${pruned} of versions pruned meanwhile`)
  assert.ok(walks > imports)
})
