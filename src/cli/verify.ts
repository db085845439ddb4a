// `dossier verify`: is a store what it should be?

import { UsageError } from '../config.ts'
import { storedChecks } from '../import/check-stored.ts'
import { resources } from '../resources/index.ts'
import { describeStore, openStoreInspector } from '../store/open-store.ts'
import type { Command } from './command.ts'
import { formatCount, tableLines } from './table.ts'

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'check a store: the file, every listing, every record',
  synopsis: ['verify [--json]'],
  details: `
Checks the file itself, that positions have no gaps, that heads say what their listings hold, that
records are in order, and that every stored record, former ones too, is what an import would store.
It changes nothing, and may run while a server reads and an import writes. Exit code 1, and a list,
where anything is wrong.

  dossier verify --db backup.db`,
  options: [{ name: 'json', meaning: 'print the outcome as JSON' }],
  settings: ['db'],
  async run({ words, flags, settings }, { stdout, stderr, signal }) {
    if (words.length > 0) throw new UsageError('verify takes the store by its option --db')
    const store = await openStoreInspector(settings.db, resources)
    try {
      const { counts, faults, notes } = await store.verify(storedChecks(resources), (step) => {
        signal.throwIfAborted()
        stderr.showStatus(`checking ${step} …`)
      })
      stderr.showStatus('')
      if (flags.has('json')) {
        stdout.writeJson({ isSound: faults.length === 0, counts, faults, notes })
      } else {
        const rows = Object.entries(counts).map(([name, count]) => [
          `  ${name}`,
          formatCount(count).padStart(14),
        ])
        stderr.writeLines(...faults)
        const outcome =
          faults.length === 0
            ? 'Sound.'
            : 'Not sound: restore it from a backup, or load it anew from the extracts.'
        stdout.writeLines(describeStore(settings.db), ...tableLines(rows), ...notes, outcome)
      }
      return faults.length === 0 ? 0 : 1
    } finally {
      await store.close()
    }
  },
}
