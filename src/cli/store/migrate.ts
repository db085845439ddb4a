// `dossier migrate`: creates the store's tables, or upgrades them.

import { resources } from '../../resources/index.ts'
import { describeStore, migrateStore } from '../../store/open-store.ts'
import { lockWait, storeOf } from '../progress.ts'
import type { Command } from '../command.ts'

export const migrate: Command = {
  summary: "create or upgrade the store's tables",
  synopsis: ['migrate [--distributed] [OPTIONS]'],
  details: `
Creates the tables of the store, or upgrades them. Imports do this automatically. A server never
does: if the tables need an upgrade, it does not start. Servers may read meanwhile, since each step
is one transaction.

  dossier migrate --db postgres://owner@db.internal/registry
  dossier migrate --db postgres://owner@db.internal/registry --distributed`,
  options: {
    '--distributed': 'distribute the tables over the nodes by company; PostgreSQL must have Citus',
  },
  takesWords: false,
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { flags, settings } = input
    const done = await migrateStore(storeOf(input, context), resources, {
      isDistributed: flags.has('distributed'),
      ...lockWait(context),
    })
    const lines = done.length === 0 ? [`${describeStore(settings.db)} is up to date.`] : done
    context.stdout.writeLines(...lines)
    return 0
  },
}
