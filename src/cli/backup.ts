// `dossier backup`: a copy of a store that is in use.

import { UsageError } from '../config.ts'
import { resources } from '../resources/index.ts'
import { describeStore, openStoreInspector } from '../store/open-store.ts'
import type { Command } from './command.ts'
import { createProgress, type ProgressDisplay } from './progress.ts'
import { formatCount } from './table.ts'

export const backupCommand: Command = {
  name: 'backup',
  summary: 'copy a store while it serves and while it is being loaded',
  synopsis: ['backup FILE'],
  details: `
Copies the store as it stands at one moment into the new file FILE, hashes of keys included. Servers
go on reading, imports go on writing. FILE is there once the copy is whole.

  dossier backup registry-2026-11-30.db
  dossier verify --db registry-2026-11-30.db`,
  options: [],
  settings: ['db'],
  async run({ words, settings }, context) {
    const [path, ...more] = words
    if (path === undefined || more.length > 0) throw new UsageError('name the file of the copy')
    const store = await openStoreInspector(settings.db, resources)
    let progress: ProgressDisplay | undefined
    try {
      const bytes = await store.backup(path, {
        onProgress(bytes, totalBytes) {
          progress ??= createProgress(context, totalBytes, 'MB')
          progress.show({ step: 'copying', count: Math.round(bytes / 1_000_000), bytes })
        },
        signal: context.signal,
      })
      progress?.end()
      context.stdout.writeLines(
        `${describeStore(settings.db)} is copied to ${path} (${formatCount(bytes)} bytes).`,
      )
      return 0
    } finally {
      progress?.end()
      await store.close()
    }
  },
}
