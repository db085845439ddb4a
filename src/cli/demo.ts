// `dossier demo`: a sample registry, a key and a running server in one command.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Settings, UsageError } from '../config/settings.ts'
import { banner } from '../demo/banner.ts'
import {
  companyCount,
  demoExtracts,
  longHistoryId,
  longHistoryLength,
  longHistoryListing,
} from '../demo/registry.ts'
import { formatCount } from '../text/format-count.ts'
import { privateFolderMode } from '../files/new-file.ts'
import { nameUnfinished } from '../files/unfinished.ts'
import { OperatorError, orExplain } from '../config/operator-error.ts'
import { resources } from '../resources/index.ts'
import { isServerStore } from '../config/setting-kinds.ts'
import { openStoreReader } from '../store/open-store.ts'
import { wholeListing } from '../store/selection.ts'
import { type Command, type CommandContext, parseInput } from './command.ts'
import { importCommand } from './import/import.ts'
import { keys, scopeNames } from './keys.ts'
import type { RunningServer, startServer } from '../server/server.ts'

const defaultDb = 'demo/registry.db'

const companyText = formatCount(companyCount)
const eventText = formatCount(longHistoryLength)

export const demo: Command = {
  summary: 'create a sample registry and serve it',
  synopsis: ['demo [OPTIONS]'],
  details: `
Creates a registry of ${companyText} fictitious companies, with names in Latin, Cyrillic, Chinese
and Arabic script; one has ${eventText} events, some have no records. The store (${defaultDb}, or
the file of --db) is kept; delete it to start again. It cannot be a PostgreSQL database.

The demo then issues a key that is valid for seven days, serves the registry, and prints requests to
paste. If the port is in use, it picks a free one. SIGTERM or SIGINT (Ctrl-C) stops it.

  dossier demo
  dossier demo --port 9000`,
  options: {},
  takesWords: false,
  settings: ['db', 'host', 'port', 'cacheMib', 'stopSeconds', 'logLevel', 'logFormat'],
  // Users try the requests in another window; this one should stay readable.
  defaults: { db: defaultDb, logLevel: 'warn', usageDb: 'none' },
  async run(input, context) {
    // A list of what is withheld that the environment names is that of another registry.
    const settings = { ...input.settings, withheld: undefined }
    if (isServerStore(settings.db)) {
      throw new UsageError(
        'the demo needs a file of its own; name a file with --db, not a PostgreSQL database',
      )
    }
    if (existsSync(settings.db)) await checkRegistry(settings.db)
    else await makeRegistry(settings.db, context)
    const key = await makeKey(settings.db, context)
    // Loaded only here, as in `serve`, so that other commands start faster.
    const { startServer } = await import('../server/server.ts')
    const server = await startOnFreePort(startServer, settings, context)
    context.stdout.write(banner({ db: settings.db, url: server.url, key }))
    await server.untilStopped(context.signal)
    return 0
  },
}

/** Refuses any other registry, so that a real one neither gets a demo key nor is served. */
async function checkRegistry(db: string): Promise<void> {
  await using reader = await openStoreReader(db)
  const resource = resources.find(({ name }) => name === longHistoryListing)
  const head = resource && (await reader.readHead(wholeListing(resource, longHistoryId)))
  if (head !== undefined && 'total' in head && head.total >= longHistoryLength) return
  throw new OperatorError(`${db} is not a demo registry; name another file with --db`)
}

/** Builds the registry in a temporary folder, and moves it into place when it is complete. */
async function makeRegistry(db: string, context: CommandContext): Promise<void> {
  const startedAt = context.now()
  const explain = (reason: string) => `cannot create ${db}: ${reason}`
  using folder = orExplain(() => {
    mkdirSync(dirname(db), { recursive: true, mode: privateFolderMode })
    return nameUnfinished(db, 'part')
  }, explain)
  orExplain(() => mkdirSync(folder.path, privateFolderMode), explain)
  const made = join(folder.path, 'registry.db')
  const counts = await fill(made, explain, context)
  orExplain(() => moveInto(made, db), explain)
  const seconds = ((context.now() - startedAt) / 1_000).toFixed(1)
  context.stderr.writeLines(`Created ${db} in ${seconds} s: ${counts.join(', ')}.`)
}

/** Imports every extract as an operator does, and returns the number of rows of each. */
async function fill(
  made: string,
  explain: (reason: string) => string,
  context: CommandContext,
): Promise<string[]> {
  const counts: string[] = []
  for (const { name, rows } of demoExtracts()) {
    context.stderr.writeLines(`Creating ${name} …`)
    const path = join(dirname(made), `${name}.ndjson`)
    const lines = Array.from(rows(), (row) => `${JSON.stringify(row)}\n`)
    orExplain(() => writeFileSync(path, lines.join('')), explain)
    const args = [name, path, '--source', 'demo', '--db', made]
    const input = parseInput(importCommand, args, {})
    const code = await importCommand.run(input, quiet(context))
    if (code !== 0) throw new OperatorError(`the demo's ${name} were refused`)
    counts.push(`${formatCount(lines.length)} ${name}`)
  }
  return counts
}

/** Leaves out the reports of imports, and their low priority, which the server would keep. */
function quiet(context: CommandContext): CommandContext {
  const stdout = { ...context.stdout, writeLines: () => undefined }
  return { ...context, stdout, lowerPriority: () => undefined }
}

function moveInto(made: string, db: string): void {
  // Another demo has finished first, and may be serving its registry already.
  if (existsSync(db)) return
  // SQLite would apply the leftover log of a deleted registry to this one.
  for (const remains of [`${db}-wal`, `${db}-shm`]) rmSync(remains, { force: true })
  renameSync(made, db)
}

/** A key is shown only once, so every start creates its own. */
async function makeKey(db: string, context: CommandContext): Promise<string> {
  let key = ''
  const deliverLine = (line: string) => {
    key = line
    return Promise.resolve()
  }
  const name = `demo-${randomBytes(4).toString('hex')}`
  const args = ['create', name, '--expires', '7d', '--scopes', scopeNames.join(), '--db', db]
  const stdout = { ...context.stdout, deliverLine }
  await keys.run(parseInput(keys, args, {}), { ...context, stdout })
  return key
}

async function startOnFreePort(
  start: typeof startServer,
  settings: Settings,
  context: CommandContext,
): Promise<RunningServer> {
  try {
    return await start(settings, context)
  } catch (error) {
    const cause = error instanceof OperatorError ? error.cause : undefined
    const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    if (!isTaken) throw error
    context.stderr.writeLines(`Port ${settings.port} is in use; using a free one.`)
    return start({ ...settings, port: 0 }, context)
  }
}
