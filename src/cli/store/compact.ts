// `dossier compact`: gives the room of deleted rows back.

import { formatCount } from '../../text/format-count.ts'
import { resources } from '../../resources/index.ts'
import { describeStore, openExistingStore } from '../../store/open-store.ts'
import { lockWait } from '../progress.ts'
import { type Command, print } from '../command.ts'
import { exportLines, withdrawExports } from './withdraw-exports.ts'

export const compactCommand: Command = {
  name: 'compact',
  summary: 'give the room of deleted data back',
  synopsis: ['compact [--json]'],
  details: `
Writes the file of the store anew, without free room: useful after pruning or removing much. Servers
keep running. It needs free space of twice the file's size for a while, and a kill leaves the store
as it was. Commands that write wait until it ends. On PostgreSQL it runs \`vacuum\` on the store's
tables, so that the next imports use their free room.

  dossier prune --keep 365d
  dossier compact`,
  options: { '--json': 'print the sizes as JSON' },
  takesWords: false,
  settings: ['db', 'withheld', 'exports'],
  async run(input, context) {
    const { settings } = input
    const { stderr } = context
    await using store = await openExistingStore(settings, resources)
    stderr.showStatus('compacting …')
    const { bytesBefore, bytesAfter, ...compacted } = await store.compact(lockWait(context))
    const withdrawn = exportLines(await withdrawExports(store, settings))
    const notes = [...compacted.notes, ...withdrawn]
    const sizes = `${formatCount(bytesBefore)} bytes before, ${formatCount(bytesAfter)} after`
    const line = `${describeStore(settings.db)} compacted: ${sizes}.`
    print(input, context, { bytesBefore, bytesAfter, notes }, [line, ...notes])
    return 0
  },
}
