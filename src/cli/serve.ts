// `dossier serve`: answers requests from the store until it is told to stop.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Settings, UsageError } from '../config.ts'
import { buildApp } from '../http/app.ts'
import { createAuthenticate } from '../keys/authenticate.ts'
import { OperatorError } from '../operator-error.ts'
import { resources } from '../resources/index.ts'
import { describeStore, openStoreReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/store.ts'
import type { Command, CommandContext } from './command.ts'
import { createLog, type Log } from './log.ts'
import { programVersion } from './program-version.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'answer requests from the store',
  usage: ['serve [OPTIONS]'],
  details: `
Answers GET /api/v1/companies/{company_id}/LISTING to clients with a key, where LISTING is one of
${resources.map(({ name }) => name).join(', ')}; /healthz and /readyz to load
balancers; /docs to browsers. The store is opened read-only; imports may go on at the same time,
and each is seen as soon as it is committed.

SIGTERM or SIGINT (Ctrl-C) stop it: it takes no new connections, ends the running requests, exits 0.

  dossier serve --db registry.db --host 0.0.0.0 --port 80
  dossier serve --db postgres://dossier@db.internal/registry --pool 20`,
  options: [],
  settings: [
    ...(['db', 'pool', 'waitMs', 'statementMs'] as const),
    ...(['host', 'port', 'cacheMib', 'stopSeconds', 'logLevel', 'logFormat'] as const),
  ],
  async run({ words, settings }, context) {
    if (words.length > 0)
      throw new UsageError(`serve takes options only, but got ${words.join(' ')}`)
    const server = await startServer(settings, context)
    server.log.logger.info({ url: server.url, db: describeStore(settings.db) }, 'listening')
    await untilStopped(server, settings, context.signal)
    return 0
  },
}

/** A server that listens. */
export interface RunningServer {
  readonly app: FastifyInstance
  readonly store: StoreReader
  readonly log: Log
  /** Where it can be reached, such as `http://127.0.0.1:8080`. */
  readonly url: string
}

/**
 * Starts serving.
 *
 * @throws OperatorError where the store cannot be opened or the address not be listened on.
 */
export async function startServer(
  settings: Settings,
  { stdout, now }: CommandContext,
): Promise<RunningServer> {
  const store = await openStoreReader(settings.db, resources, {
    pool: Number(settings.pool),
    waitMs: Number(settings.waitMs),
    statementMs: Number(settings.statementMs),
  })
  const log = await createLog(settings, stdout)
  const app = buildApp({
    store,
    resources,
    authenticate: createAuthenticate(store, now),
    cacheBytesMax: Number(settings.cacheMib) * 1_048_576,
    logger: log.logger,
    version: programVersion(),
  })
  try {
    await app.listen({ host: settings.host, port: Number(settings.port) })
  } catch (error) {
    await store.close()
    throw explainListenError(error, settings)
  }
  return { app, store, log, url: urlOf(app.server.address() as AddressInfo) }
}

/** Waits for the signal, lets running requests end, and closes everything. */
export async function untilStopped(
  { app, store, log }: RunningServer,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  log.logger.info({ signal: String(signal.reason) }, 'stopping')
  app.stopAnswering()
  // A connection whose last request ends after the stop has begun is idle only then.
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  const deadline = new AbortController()
  const closed = app.close().finally(() => {
    clearInterval(idle)
    deadline.abort()
  })
  await sleep(Number(settings.stopSeconds) * 1_000, undefined, { signal: deadline.signal }).then(
    () => app.server.closeAllConnections(),
    () => undefined,
  )
  await closed
  await store.close()
  log.logger.info('stopped')
  log.flush()
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function explainListenError(error: unknown, { host, port }: Settings): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return new OperatorError(`port ${port} of ${host} is in use; choose another with --port`, {
        cause: error,
      })
    case 'EACCES':
      return new OperatorError(`no right to listen on port ${port}; choose one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new OperatorError(`${host} is no address of this machine; mend --host`)
    default:
      return error
  }
}
