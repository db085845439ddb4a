// What it costs to withhold a person: found among all companies, and written anew where they are.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import {
  dossier,
  folder,
  makeCompanies,
  makeStore,
  removeStore,
  rightsOf,
  writeOnce,
} from './files.ts'
import type { Figure } from './measures.ts'
import { endedSeconds, importFile } from './processes.ts'

const rounds = 3
const recordsOfEach = 2

/** One person, a holder in one company, in a registry of many companies with rights each. */
export async function withholdPerson(scale: number): Promise<Figure[]> {
  const companies = 1e6 * scale
  const shape = rightsOf(companies * recordsOfEach, recordsOfEach, 'clustered')
  const made = join(folder, `withholding-${companies}.db`)
  if (!existsSync(made)) {
    const part = `${made}.part`
    cpSync(makeStore(shape).db, part)
    await importFile('companies', makeCompanies(companies), part)
    const id = shape.records + 1
    const one = writeOnce(`one-person-${id}.ndjson`, 1, () => {
      return `{"id":${id},"company_id":${companies / 2},"name":"x","holders":["Jane Example Doe"]}\n`
    })
    await importFile('rights', one, part)
    renameSync(part, made)
  }
  const db = join(folder, 'withholding.db')
  const seconds: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    removeStore(db)
    cpSync(made, db)
    const list = join(folder, `withheld-${process.pid}-${round}.ndjson`)
    const asked = ['--reason', 'bench', '--by', 'bench', '--yes', '--db', db, '--withheld', list]
    const args = ['withhold', 'erase', 'rights', 'holders=Jane Example Doe', ...asked]
    const [before, startedAt] = [endedSeconds('self'), performance.now()]
    const { status, stderr } = spawnSync(dossier, args)
    if (status !== 0) throw new Error(String(stderr))
    seconds.push((performance.now() - startedAt) / 1_000)
    cpu.push(endedSeconds('self') - before)
    removeStore(list)
  }
  removeStore(db)
  const what = 'one person of 1,000,000 companies withheld'
  return [
    { what, unit: 's', values: seconds, reach: { most: 2 } },
    { what: `${what}, by processor time`, unit: 's', values: cpu, reach: { most: 2 } },
  ]
}
