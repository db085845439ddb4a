// `dossier backup`: copies a store while it is in use.

import { formatCount } from '../../text/format-count.ts'
import { resources } from '../../resources/index.ts'
import { describeStore, openStoreInspector } from '../../store/open-store.ts'
import { type Command, onlyPath } from '../command.ts'
import { storeOf, watchCopy } from '../progress.ts'

export const backupCommand: Command = {
  summary: 'copy a store while it is in use',
  synopsis: ['backup FILE'],
  details: `
Copies one consistent state of the store, key hashes included, to the new file FILE. Servers and
imports keep running. FILE appears when the copy is complete. If anything is withheld, back up the
list of it, too: a copy is refused without it.

  dossier backup registry-2026-11-30.db
  dossier verify --db registry-2026-11-30.db`,
  options: {},
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { words, settings } = input
    const path = onlyPath(words, 'backup takes one argument: the file to create')
    await using store = await openStoreInspector(storeOf(input, context), resources)
    const bytes = await store.backup(path, watchCopy(context, 'copying'))
    const copied = `${describeStore(settings.db)} copied to ${path} (${formatCount(bytes)} bytes).`
    const isWithholding = (await store.readWithheld()).length > 0
    const list = `Also back up the list of what is withheld: ${store.listName}`
    context.stdout.writeLines(copied, ...(isWithholding ? [list] : []))
    return 0
  },
}
