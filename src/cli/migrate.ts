// `dossier migrate`: makes the store's tables, and brings them up to date.

import { UsageError } from '../config.ts'
import { resources } from '../resources/index.ts'
import { describeStore, migrateStore } from '../store/open-store.ts'
import type { Command } from './command.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: "make the store's tables, or bring them up to date",
  synopsis: ['migrate [--distributed] [OPTIONS]'],
  details: `
Imports do this by themselves; a server never does, and says so where it is needed. It may run while
servers read: a step is one transaction, and two that run at once take turns.

  dossier migrate --db postgres://owner@db.internal/registry
  dossier migrate --db postgres://owner@db.internal/registry --distributed`,
  options: [
    {
      name: 'distributed',
      meaning: 'spread the tables over the nodes by company; the PostgreSQL must have Citus',
    },
  ],
  settings: ['db'],
  async run({ words, flags, settings: { db } }, { stdout, stderr }) {
    if (words.length > 0)
      throw new UsageError(`migrate takes options only, but got ${words.join(' ')}`)
    const done = await migrateStore(db, resources, {
      isDistributed: flags.has('distributed'),
      onWait: () => stderr.writeLines('another command is writing to the store; waiting'),
    })
    const lines = done.length === 0 ? [`${describeStore(db)} is up to date.`] : done
    stdout.writeLines(...lines)
    return 0
  },
}
