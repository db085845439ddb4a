// `dossier prune`: deletes past states of records and companies that are older than a duration.

import { UsageError } from '../../config/settings.ts'
import { resources } from '../../resources/index.ts'
import { openExistingStore } from '../../store/open-store.ts'
import type { Pruned } from '../../store/writing.ts'
import { type Command, print } from '../command.ts'
import { confirm } from '../confirm.ts'
import { parseDuration } from '../option-values.ts'
import { countLines } from '../table.ts'
import { storeOf, watchWork } from '../progress.ts'

export const prune: Command = {
  summary: 'delete past states older than a duration',
  synopsis: ['prune --keep DURATION [--yes] [--json]', 'prune --keep DURATION --dry-run [--json]'],
  details: `
The store keeps what imports replace or remove. \`prune\` deletes past states that were replaced
longer than DURATION ago, in one transaction. Current data, the log of imports and recorded changes
are kept. Deleted data is overwritten. The file does not shrink, but its free space is reused;
\`dossier compact\` returns it to the system.

This cannot be undone, so \`prune\` shows the counts and asks for confirmation; without a terminal,
it needs --yes.

  dossier prune --keep 365d --dry-run
  dossier prune --keep 365d --yes`,
  options: {
    '--keep DURATION': 'how far back to keep past states: 365d, 12h, 2y, 0d',
    '--yes': 'delete without asking',
    '--dry-run': 'report what would be deleted, and delete nothing',
    '--json': 'print the report as JSON',
  },
  takesWords: false,
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { options, flags } = input
    const keep = options['keep']
    if (keep === undefined) throw new UsageError('prune needs --keep DURATION')
    if (/^\d+m$/.test(keep)) {
      throw new UsageError(`--keep ${keep} would be minutes; for months, give days: 180d`)
    }
    const before = context.now() - parseDuration('keep', keep)
    const watch = watchWork(context)
    const isDryRun = flags.has('dry-run')
    await using store = await openExistingStore(storeOf(input, context), resources)
    if (!isDryRun && !flags.has('yes')) {
      const found = await store.prune(before, watch, true)
      // Without any, as on most days of a timer, there is nothing to ask.
      if (Object.values(found.forgotten).some((count) => count > 0)) {
        context.stderr.writeLines('Past states to be deleted', ...countsOf(found))
        await confirm('Delete them permanently? [y/N] ', context, 'to delete these')
      }
    }
    const pruned = await store.prune(before, watch, isDryRun)
    const known = `The history is complete from version ${pruned.earliestVersion} on.`
    const [title, end] = isDryRun
      ? ['Past states to be deleted', 'Dry run: nothing was deleted.']
      : ['Past states deleted', known]
    print(input, context, prunedJson(pruned), [title, ...countsOf(pruned), end])
    return 0
  },
}

const countsOf = ({ forgotten }: Pruned) => countLines(Object.entries(forgotten))

const prunedJson = ({ earliestVersion, forgotten }: Pruned) => {
  return { earliest_version: earliestVersion, past_states: forgotten }
}
