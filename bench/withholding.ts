// What it costs to withhold a person, found among all companies and written anew where they are;
// and the memory for a company with many events, and for imports of a person in many companies.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type Figure, figure } from './figures.ts'
import {
  dossier,
  eventsOf,
  fill,
  folder,
  makeCompanies,
  makeOnce,
  makeStore,
  removeStore,
  rightsOf,
  writeOnce,
} from './files.ts'
import { importFile, run } from './processes.ts'

const rounds = 3
const recordsOfEach = 2
const why = ['--reason', 'bench', '--by', 'bench', '--yes']

/** One person, a holder in one company, in a registry of many companies with rights each. */
export async function withholdPerson(scale: number): Promise<Figure[]> {
  const companies = 1e6 * scale
  const shape = rightsOf(companies * recordsOfEach, recordsOfEach, 'clustered')
  const made = makeOnce(`withholding-${companies}`, (part) => {
    cpSync(makeStore(shape).db, part)
    fill(part, 'companies', makeCompanies(companies))
    const id = shape.records + 1
    const one = writeOnce(`one-person-${id}.ndjson`, 1, () => {
      return `{"id":${id},"company_id":${companies / 2},"name":"x","holders":["Jane Example Doe"]}\n`
    })
    fill(part, 'rights', one)
  })
  const db = join(folder, 'withholding.db')
  const seconds: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    removeStore(db)
    cpSync(made, db)
    const list = join(folder, `withheld-${process.pid}-${round}.ndjson`)
    const asked = [...why, '--db', db, '--withheld', list]
    const words = ['withhold', 'erase', 'rights', 'holders=Jane Example Doe']
    const cost = await run([dossier, ...words, ...asked])
    seconds.push(cost.seconds)
    cpu.push(cost.cpuSeconds)
    removeStore(list)
  }
  removeStore(db)
  const what = 'one person of 1,000,000 companies withheld'
  return [
    figure(what, 's', seconds, { most: 2 }),
    figure(`${what}, by processor time`, 's', cpu, { most: 2 }),
  ]
}

/** A company with 1,000,000 events; and a person, known from one record, in 200,000 companies. */
export async function withholdMuch(scale: number): Promise<Figure[]> {
  const db = join(folder, 'withholding.db')
  const at = ['--db', db, '--withheld', join(folder, `withheld-${process.pid}.ndjson`)]
  const removeAll = () => [db, ...at.slice(3)].forEach(removeStore)
  cpSync(makeStore(eventsOf(1e6 * scale)).db, db)
  const erased = await run([dossier, 'withhold', 'erase', 'company', '1', ...why, ...at])
  removeAll()
  const companies = 2e5 * scale
  const writePerson = (count: number) =>
    writeOnce(`person-in-${count}.ndjson`, count, (n) => {
      return `{"id":${n + 1},"company_id":${n + 1},"name":"x","holders":["Jane Example Doe"]}\n`
    })
  const all = writePerson(companies)
  await importFile('rights', writePerson(1), db, at.slice(2))
  await run([dossier, 'withhold', 'erase', 'rights', 'holders=Jane Example Doe', ...why, ...at])
  const peakMb: number[] = []
  for (const _ of ['found', 'known']) {
    peakMb.push((await importFile('rights', all, db, ['--accept', ...at.slice(2)])).peakMb)
  }
  removeAll()
  return [
    figure('a company with 1,000,000 events erased, memory', 'MB', [erased.peakMb], { most: 350 }),
    figure('a withheld person in 200,000 companies, memory', 'MB', peakMb, { most: 350 }),
  ]
}
