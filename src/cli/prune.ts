// `dossier prune`: forgets the former states of records and companies that are old enough.

import { UsageError } from '../config.ts'
import { OperatorError } from '../operator-error.ts'
import { resources } from '../resources/index.ts'
import { mayExist, openStoreWriter } from '../store/open-store.ts'
import type { Command } from './command.ts'
import { parseDuration } from './duration.ts'
import { formatCount, tableLines } from './table.ts'
import { lockWait } from './lock-wait.ts'

export const prune: Command = {
  name: 'prune',
  summary: 'forget former states that are older than a duration',
  synopsis: ['prune --keep DURATION [--json]'],
  details: `
What an import replaces or removes is kept, with the versions between which it stood. This forgets
what stood only in versions that were replaced longer ago than DURATION, in one transaction. What is
served now, the log of imports and recorded changes stay. The file does not shrink; the room in it
is used again.

  dossier prune --keep 365d`,
  options: [
    { name: 'keep', value: 'DURATION', meaning: 'how far back to keep: 365d, 12h, 2y, 0d' },
    { name: 'json', meaning: 'print the report as JSON' },
  ],
  settings: ['db'],
  async run({ words, options, flags, settings }, context) {
    const keep = options['keep']
    if (keep === undefined) throw new UsageError('say how far back to keep: --keep DURATION')
    if (words.length > 0) throw new UsageError(`prune takes no ${words.join(' ')}`)
    const before = context.now() - parseDuration('keep', keep)
    const { db } = settings
    if (!mayExist(db)) {
      throw new OperatorError(`${db} does not exist; make it with: dossier import`)
    }
    const store = await openStoreWriter(db, resources)
    try {
      const pruned = await store.prune(before, lockWait(context))
      const rows = Object.entries(pruned.forgotten).map(([name, count]) => [
        `  ${name}`,
        formatCount(count).padStart(14),
      ])
      const { earliestVersion } = pruned
      const known = `Everything is known from version ${earliestVersion} on.`
      if (flags.has('json')) context.stdout.writeJson(pruned)
      else context.stdout.writeLines('Former states forgotten', ...tableLines(rows), known)
      return 0
    } finally {
      await store.close()
    }
  },
}
