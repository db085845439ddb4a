// `dossier compact`: reclaims the space of deleted rows.

import { formatCount } from '../../text/format-count.ts'
import { resources } from '../../resources/index.ts'
import { describeStore, openExistingStore } from '../../store/open-store.ts'
import { lockWait, storeOf } from '../progress.ts'
import { type Command, print } from '../command.ts'
import { exportLines, withdrawExports } from './withdraw-exports.ts'

export const compactCommand: Command = {
  summary: 'reclaim the space of deleted data',
  synopsis: ['compact [--json]'],
  details: `
Rewrites the file of the store without its free space: useful after much was pruned or removed.
Servers keep running. It needs free disk space of twice the file's size while it runs; if it is
killed, the store is unchanged. Commands that write wait until it ends. On PostgreSQL it runs
\`vacuum\` on the store's tables, so that the next imports reuse their free space. The files of
complete copies in the folder of --exports that contain data withheld since are deleted.

  dossier prune --keep 365d
  dossier compact`,
  options: { '--json': 'print the sizes as JSON' },
  takesWords: false,
  settings: ['db', 'withheld', 'exports'],
  async run(input, context) {
    const { settings } = input
    const { stderr } = context
    await using store = await openExistingStore(storeOf(input, context), resources)
    stderr.showStatus('compacting …')
    const { bytesBefore, bytesAfter, ...compacted } = await store.compact(lockWait(context))
    const withdrawn = exportLines(await withdrawExports(store, settings, context))
    const notes = [...compacted.notes, ...withdrawn]
    const sizes = `${formatCount(bytesBefore)} bytes before, ${formatCount(bytesAfter)} after`
    const line = `${describeStore(settings.db)} compacted: ${sizes}.`
    const report = { bytes_before: bytesBefore, bytes_after: bytesAfter, notes }
    print(input, context, report, [line, ...notes])
    return 0
  },
}
