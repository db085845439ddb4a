// `dossier serve`: answers requests from the store until a signal stops it.

import type { Command } from './command.ts'

export const serve: Command = {
  summary: 'serve the API from the store',
  synopsis: ['serve [OPTIONS]'],
  details: `
Serves the API, /api/v1/, to clients with a key. /docs describes it, / is the explorer, and /healthz
and /readyz are for load balancers. The store is opened read-only. Imports may run at the same time;
clients see each import as soon as it is committed.

SIGTERM or SIGINT (Ctrl-C) stops the server: /readyz answers 503, connections are closed, running
requests finish, and it exits with code 0.

  dossier serve --db registry.db --workers 2
  dossier serve --db postgres://dossier@db.internal/registry --pool 20`,
  options: {},
  takesWords: false,
  settings: [
    ...(['db', 'withheld', 'pool', 'waitMs', 'statementMs'] as const),
    ...(['host', 'port', 'reusePort', 'workers', 'cacheMib', 'stopSeconds'] as const),
    ...(['connectionsMax', 'requestsMax', 'delayMsMax'] as const),
    ...(['corsOrigin', 'trustProxy', 'defaultRate', 'redisUrl', 'badKeyRate'] as const),
    ...(['exports', 'explorer', 'usageDb', 'usageSeconds'] as const),
    ...(['metricsPort', 'metricsHost', 'logLevel', 'logFormat'] as const),
  ],
  async run({ settings }, context) {
    // Loaded only here: without a server, other commands start in half the time.
    const { runServer } = await import('../server/run.ts')
    return runServer(settings, context)
  },
}
