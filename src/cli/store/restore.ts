// `dossier restore`: replaces a store with a backup.

import { storedChecks } from '../../import/rows/check-stored.ts'
import { resources } from '../../resources/index.ts'
import { countOf } from '../../text/format-count.ts'
import {
  compareCopy,
  openStoreInspector,
  restoreStore,
  type StorePlace,
} from '../../store/open-store.ts'
import { type Command, type CommandContext, onlyPath } from '../command.ts'
import { confirm } from '../confirm.ts'
import { lockWait, storeOf, watchChecks, watchCopy } from '../progress.ts'

export const restoreCommand: Command = {
  summary: 'replace the store with a backup',
  synopsis: ['restore COPY [--yes | --replace-foreign]'],
  details: `
Verifies COPY, made by \`dossier backup\`, and replaces the store with it: all or nothing, even if
it is killed. Commands that write wait; servers keep running, and serve the restored state as soon
as it is complete. The keys are those of COPY.

If the store has imports that COPY lacks, it asks for confirmation; without a terminal, it needs
--yes, or --replace-foreign if COPY is of another registry.

The replaced store is kept next to the restored one, with the date in its name, until you delete it;
it can be restored like any copy. Data that is withheld (\`dossier withhold\`) is first removed from
a copy of COPY, so that none of it returns.

  dossier restore registry-2026-11-30.db --db registry.db`,
  options: {
    '--yes': 'replace a store that has later imports, without asking',
    '--replace-foreign': 'replace a store with a copy of another registry',
  },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { words, flags } = input
    const copy = onlyPath(words, 'restore takes one argument: the file to restore')
    const at = storeOf(input, context)
    const { db } = at
    const { isForeign, lostMax } = await agree(db, copy, flags, context)
    const kept = await restoreStore(at, copy, resources, {
      ...lockWait(context),
      startedAt: context.now(),
      lostMax,
      checks: storedChecks(resources),
      onCheck: watchChecks(context),
      copying: (step) => watchCopy(context, step),
    })
    const state = await describeState(at)
    const lines = [`${db} restored from ${copy}${state}.`, ...advice(kept, isForeign)]
    context.stdout.writeLines(...lines)
    return 0
  },
}

/**
 * @returns whether the copy is of another registry, and how many versions may be lost.
 * @throws OperatorError unless the operator agrees to what would be lost.
 */
async function agree(
  db: string,
  copy: string,
  flags: ReadonlySet<string>,
  context: CommandContext,
): Promise<{ readonly isForeign: boolean; readonly lostMax: number }> {
  const { isForeign, lost } = await compareCopy(db, copy)
  const isAgreed = flags.has('replace-foreign') || (!isForeign && flags.has('yes'))
  if (isAgreed) return { isForeign, lostMax: Infinity }
  if (lost === 0) return { isForeign, lostMax: 0 }
  const imports = countOf(lost, 'version')
  const what = isForeign ? `${copy} is a copy of another registry, and` : copy
  context.stderr.writeLines(`${what} lacks ${imports} of ${db}, which would be lost.`)
  const option = isForeign ? '--replace-foreign' : '--yes'
  await confirm('Replace the store? [y/N] ', context, 'to replace the store', option)
  return { isForeign, lostMax: lost }
}

/** The version that is current now, to compare with what the operator expects. */
async function describeState(at: StorePlace): Promise<string> {
  await using store = await openStoreInspector(at, resources)
  const [last] = await store.listImports(1)
  if (last === undefined) return ', without an import'
  return `: version ${last.version}, committed ${new Date(last.committedAt).toISOString()}`
}

function advice(kept: string | undefined, isForeign: boolean): string[] {
  const restart = 'Restart the servers of this store: they still count uses of keys for the other'
  return [
    ...(kept === undefined ? [] : [`The replaced store is ${kept}; delete it when all is well.`]),
    ...(isForeign ? [`${restart} registry.`] : []),
    'The keys are those of the copy; see: dossier keys list',
  ]
}
