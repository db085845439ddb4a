// `dossier verify`: checks the integrity of a store.

import { UsageError } from '../../config/settings.ts'
import { storedChecks } from '../../import/rows/check-stored.ts'
import { resources } from '../../resources/index.ts'
import type { Verification } from '../../store/inspecting.ts'
import { describeStore, openStoreInspector } from '../../store/open-store.ts'
import { type Command, print } from '../command.ts'
import { storeOf, watchChecks } from '../progress.ts'
import { countLines } from '../table.ts'

export const verifyCommand: Command = {
  summary: 'check the integrity of a store',
  synopsis: ['verify [--json]'],
  details: `
Checks the file, the order and completeness of every listing, and every stored record, past ones
included. It changes nothing, and may run while servers read and an import writes. If it finds a
fault, it lists the faults and exits with code 1.

  dossier verify --db backup.db`,
  options: { '--json': 'print the result as JSON' },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { words, settings } = input
    if (words.length > 0)
      throw new UsageError('verify takes options only; name the store with --db')
    await using store = await openStoreInspector(storeOf(input, context), resources, true)
    const found = await store.verify(storedChecks(resources), watchChecks(context))
    const { faults } = found
    const isSound = faults.length === 0
    const outcome = isSound
      ? 'No faults found.'
      : 'The store is damaged: restore a backup, or import the extracts into a new store.'
    if (!input.flags.has('json')) context.stderr.writeLines(...faults)
    const lines = [describeStore(settings.db), ...countLines(countsOf(found)), outcome]
    print(input, context, verificationJson(found), lines)
    return isSound ? 0 : 1
  },
}

function countsOf({ counts, pastStates }: Verification): (readonly [string, number])[] {
  return Object.entries(counts).flatMap(([name, count]) => {
    const past = pastStates[name]
    return past === undefined
      ? [[name, count] as const]
      : [[name, count] as const, [`${name}, past states`, past] as const]
  })
}

function verificationJson({ counts, pastStates: past_states, faults }: Verification): object {
  return { sound: faults.length === 0, counts, past_states, faults }
}
