// What it costs to withhold a person: found among all companies, and written anew where they are.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type Figure, figure } from './figures.ts'
import {
  dossier,
  fill,
  folder,
  makeCompanies,
  makeOnce,
  makeStore,
  removeStore,
  rightsOf,
  writeOnce,
} from './files.ts'
import { run } from './processes.ts'

const rounds = 3
const recordsOfEach = 2

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
    const asked = ['--reason', 'bench', '--by', 'bench', '--yes', '--db', db, '--withheld', list]
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
