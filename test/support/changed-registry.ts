// A small registry with a past: two extracts of companies, and rights that changed once.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordedOn } from './history.ts'
import { importInto } from './import-rows.ts'
import { mustRun } from './run-command.ts'
import { storeAt } from './store-at.ts'

/** The files of the four imports, in their order; the first two are snapshots of their day. */
export const extracts = [
  ['a.csv', '2025-01-31', 'GB,1,Acme,Ipswich\nGB,2,Bolt,Harwich\n'],
  ['b.csv', '2025-02-28', 'GB,1,Acme Ltd,"Ips\nwich"\n'],
] as const
const changedRights = [
  ['rights.ndjson', 'x'],
  ['later.ndjson', 'y'],
] as const

/** Writes the files of the registry into a folder. */
function writeExtracts(folder: string): void {
  for (const [name, , rows] of extracts) {
    writeFileSync(join(folder, name), `jurisdiction,identifier,name,town\n${rows}`)
  }
  for (const [file, name] of changedRights) {
    const right = { id: 1, company_jurisdiction: 'GB', company_identifier: '1', name }
    writeFileSync(join(folder, file), `${JSON.stringify(right)}\n`)
  }
}

/** Makes the registry as the command line would, in this process; returns the store. */
export async function makeChangedRegistry(folder: string): Promise<string> {
  const path = join(folder, 'registry.db')
  writeExtracts(folder)
  for (const [name, day] of extracts) {
    await importInto(path, 'companies', [join(folder, name)], {
      source: 'register',
      isSnapshot: true,
      ...recordedOn(day),
    })
  }
  for (const [file] of changedRights) await importInto(path, 'rights', [join(folder, file)])
  return storeAt(path)
}

/** The registry of `makeChangedRegistry`, made with the commands. */
export async function typeRegistry(folder: string): Promise<string> {
  const db = storeAt(join(folder, 'registry.db'))
  writeExtracts(folder)
  const asOf = extracts.map(([name, day]) => [
    ...['companies', name, '--source', 'register', '--snapshot', '--as-of', day],
  ])
  const rights = changedRights.map(([name]) => ['rights', name])
  for (const args of [...asOf, ...rights]) {
    await mustRun(folder, ['import', ...args, '--db', db])
  }
  return db
}
