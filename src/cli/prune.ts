// `dossier prune`: deletes past states of records and companies that are older than a duration.

import { UsageError } from '../config.ts'
import { formatCount } from '../format-count.ts'
import { resources } from '../resources/index.ts'
import { openExistingStore } from '../store/open-store.ts'
import type { Command } from './command.ts'
import { parseDuration } from './duration.ts'
import { tableLines } from './table.ts'
import { watchWork } from './progress.ts'

export const prune: Command = {
  name: 'prune',
  summary: 'delete past states older than a duration',
  synopsis: ['prune --keep DURATION [--json]'],
  details: `
The store keeps what imports replace or remove. This deletes past states that were replaced longer
than DURATION ago, in one transaction. Current data, the log of imports and recorded changes stay.
What is deleted is overwritten. The file does not shrink, but its free space is reused; \`dossier
compact\` gives it back.

  dossier prune --keep 365d`,
  options: [
    {
      name: 'keep',
      value: 'DURATION',
      meaning: 'how far back to keep past states: 365d, 12h, 2y, 0d',
    },
    { name: 'json', meaning: 'print the report as JSON' },
  ],
  settings: ['db'],
  async run({ words, options, flags, settings }, context) {
    const keep = options['keep']
    if (keep === undefined) throw new UsageError('prune needs --keep DURATION')
    if (words.length > 0)
      throw new UsageError(`prune takes options only, but got ${words.join(' ')}`)
    const before = context.now() - parseDuration('keep', keep)
    const { db } = settings
    const watch = watchWork(context)
    const store = await openExistingStore(db, resources, watch.onStep)
    try {
      const pruned = await store.prune(before, watch)
      watch.end()
      const rows = Object.entries(pruned.forgotten).map(([name, count]) => [
        `  ${name}`,
        formatCount(count).padStart(14),
      ])
      const { earliestVersion } = pruned
      const known = `The history is complete from version ${earliestVersion} on.`
      if (flags.has('json')) context.stdout.writeJson(pruned)
      else context.stdout.writeLines('Past states deleted', ...tableLines(rows), known)
      return 0
    } finally {
      watch.end()
      await store.close()
    }
  },
}
