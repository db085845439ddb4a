// The cost of the history of changes: comparing extracts, keeping the past, serving meanwhile.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { figure, type Measure } from './figures.ts'
import { folder, makeChanged, makeExtract, makeStore, removeStore, rightsOf } from './files.ts'
import { importFile, load, type Question, startDossier } from './processes.ts'

const rounds = 3

/** Copies a store that is not being written. */
function copyStore(from: string, to: string): void {
  removeStore(to)
  cpSync(from, to)
}

/** Compares an extract of companies with the stored one of the day before. */
export const compareExtracts: Measure = async (scale) => {
  const companies = 1e6 * scale
  const files = [makeExtract(companies, 'first'), makeExtract(companies, 'second')] as const
  const first = join(folder, 'extract-1.db')
  const second = join(folder, 'extract-2.db')
  removeStore(first)
  await importFile('companies', files[0], first, ['--snapshot', '--as-of', '2025-01-01'])
  const rates: number[] = []
  const peakMb: number[] = []
  for (let round = 0; round < rounds; round++) {
    copyStore(first, second)
    const options = ['--snapshot', '--as-of', '2025-01-02']
    const imported = await importFile('companies', files[1], second, options)
    rates.push(companies / imported.seconds)
    peakMb.push(imported.peakMb)
  }
  removeStore(first)
  removeStore(second)
  const what = 'comparing 1,000,000 companies, 1 % changed'
  return [
    figure(what, 'companies/s', rates, { least: 100_000 }),
    figure(`${what}, memory`, 'MB', peakMb, { most: 400 }),
  ]
}

/** The latency of pages while an import reads, merges and commits, compared to that without one. */
export const serveBesideImport: Measure = async (scale) => {
  const shape = rightsOf(1e6 * scale, 100, 'clustered')
  const made = makeStore(shape)
  const changed = makeChanged(shape)
  const db = join(folder, 'beside.db')
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    copyStore(made.db, db)
    await using server = await startDossier(db, 64)
    const question: Question = {
      key: made.key,
      path: '/api/v1/companies/{}/rights',
      companies: shape.records / shape.listing,
      connections: 4,
    }
    await load(server, question, 2)
    const alone = await load(server, question, 4)
    const progress = { isDone: false }
    const importing = importFile('rights', changed, db).finally(() => (progress.isDone = true))
    const beside: number[] = []
    while (!progress.isDone) beside.push((await load(server, question, 2)).p99Us)
    await importing
    ratios.push(Math.max(...beside) / alone.p99Us)
  }
  removeStore(db)
  return [figure('p99 of pages beside an import', '÷ p99 without', ratios, { most: 3 })]
}
