// `dossier demo`: a made-up registry, a key and a running server in one command.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { settings as settingTable, type Settings, UsageError } from '../config.ts'
import {
  companyCount,
  demoExtracts,
  firstEmptyId,
  longHistoryId,
  longHistoryLength,
  type Row,
} from '../demo/registry.ts'
import { importFiles } from '../import/import-files.ts'
import { OperatorError } from '../operator-error.ts'
import { resources } from '../resources/index.ts'
import { openStoreWriter } from '../store/open-store.ts'
import type { StoreWriter } from '../store/store.ts'
import type { Command, CommandContext } from './command.ts'
import { issueKey } from './keys.ts'
import { createProgress } from './progress.ts'
import { startServer, untilStopped } from './serve.ts'

const defaultDb = 'demo/registry.db'
const companies = companyCount.toLocaleString('en')
const keyLifeMs = 7 * 86_400_000

export const demo: Command = {
  name: 'demo',
  summary: 'make a made-up registry and serve it: a first look',
  usage: ['demo [OPTIONS]'],
  details: `
Makes a registry of ${companies} companies that do not exist, once, in ${defaultDb};
issues a key for seven days; serves it, and prints requests to try. Remove the file to have it
made anew.`,
  options: [],
  settings: ['db', 'host', 'port', 'cacheMib', 'stopSeconds', 'logLevel', 'logFormat'],
  async run({ words, options, settings: given }, context) {
    if (words.length > 0)
      throw new UsageError(`demo takes options only, but got ${words.join(' ')}`)
    const isDbGiven = options['db'] !== undefined || given.db !== settingTable.db.default
    const settings: Settings = {
      ...given,
      db: isDbGiven ? given.db : defaultDb,
      // The requests are tried in the next window; this one stays readable.
      logLevel: options['log-level'] ?? 'warn',
    }
    if (!existsSync(settings.db)) await makeRegistry(settings.db, context)
    const key = await makeKey(settings.db, context)
    const server = await startOnFreePort(settings, context)
    context.stdout.write(banner(server.url, key))
    await untilStopped(server, settings, context.signal)
    return 0
  },
}

/** Builds the registry beside its place, and puts it there when it is whole. */
async function makeRegistry(db: string, context: CommandContext): Promise<void> {
  mkdirSync(dirname(db), { recursive: true })
  const folder = mkdtempSync(join(dirname(db), '.making-'))
  try {
    const made = join(folder, 'registry.db')
    const store = openStoreWriter(made, resources)
    try {
      for (const { name, rows } of demoExtracts()) {
        await importRows(store, name, rows(), folder, context)
      }
    } finally {
      await store.close()
    }
    renameSync(made, db)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function importRows(
  store: StoreWriter,
  name: string,
  rows: Iterable<Row>,
  folder: string,
  context: CommandContext,
): Promise<void> {
  const path = join(folder, `${name}.ndjson`)
  writeNdjson(path, rows)
  context.stderr.write(`Making ${name} …\n`)
  const progress = createProgress(context, undefined)
  try {
    const report = await importFiles(store, {
      resource: resources.find((resource) => resource.name === name),
      files: [{ name: path, format: 'ndjson', compression: 'none', size: undefined }],
      mapping: undefined,
      source: 'demo',
      isSnapshot: false,
      isDryRun: false,
      knownCompaniesOnly: name !== 'companies',
      onRejected: undefined,
      onProgress: (done) => progress.show(done),
      onWait: () => undefined,
      signal: context.signal,
    })
    if (report.version === undefined) throw new OperatorError(`the demo's ${name} were refused`)
  } finally {
    progress.end()
  }
}

const batchLength = 1_000

function writeNdjson(path: string, rows: Iterable<Row>): void {
  const file = openSync(path, 'w')
  try {
    let lines: string[] = []
    for (const row of rows) {
      lines.push(`${JSON.stringify(row)}\n`)
      if (lines.length < batchLength) continue
      writeSync(file, lines.join(''))
      lines = []
    }
    writeSync(file, lines.join(''))
  } finally {
    closeSync(file)
  }
}

/** A key is shown only once, so every start makes its own. */
async function makeKey(db: string, { now, stderr }: CommandContext): Promise<string> {
  const store = openStoreWriter(db, resources)
  try {
    const name = `demo-${randomBytes(4).toString('hex')}`
    const key = { name, scopes: undefined, expiresAt: now() + keyLifeMs, now: now() }
    return await issueKey(store, key, () => void stderr.write('waiting for an import to end\n'))
  } finally {
    await store.close()
  }
}

async function startOnFreePort(settings: Settings, context: CommandContext) {
  try {
    return await startServer(settings, context)
  } catch (error) {
    const isTaken = error instanceof OperatorError && error.message.includes('is in use')
    if (!isTaken) throw error
    context.stderr.write(`Port ${settings.port} is in use; taking a free one.\n`)
    return startServer({ ...settings, port: '0' }, context)
  }
}

function banner(url: string, key: string): string {
  const listing = (id: number, rest: string) => `${url}/api/v1/companies/${id}/${rest}`
  const curl = (title: string, command: string) => `  # ${title}\n  ${command}\n`
  const get = (target: string) => `curl -s -H "Authorization: Bearer $KEY" "${target}"; echo`
  const lastPage = Math.ceil(longHistoryLength / 3)
  return `
Dossier serves a made-up registry of ${companies} companies.

  Reference, where you can try requests:  ${url}/docs
  Your key, good for seven days:          ${key}

Paste these into another window:

  KEY=${key}

${[
  curl('The first page of the rights of company 1', get(listing(1, 'rights?limit=2'))),
  curl('The third page of its employees, 50 a page', get(listing(1, 'employees?page=3&limit=50'))),
  curl(
    `The last page of ${longHistoryLength.toLocaleString('en')} events: as quick as the first`,
    get(listing(longHistoryId, `events?page=${lastPage}&limit=3`)),
  ),
  curl(
    'A company that has nothing, and one that does not exist',
    get(listing(firstEmptyId, 'jobs')),
  ),
  `  ${get(listing(companyCount + 1, 'jobs'))}\n`,
  curl('Only the headers', get(listing(1, 'pos_terminals')).replace('curl -s', 'curl -sI')),
].join('\n')}
Your own data:  bin/dossier import --help
Stop:           Ctrl-C
`
}
