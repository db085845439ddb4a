// `dossier keys`: creates, rotates, lists and revokes the keys of clients.

import { type Settings, UsageError } from '../config/settings.ts'
import { formatCount } from '../text/format-count.ts'
import { isValid } from '../auth/authenticate.ts'
import { type IssuedKey, makeIssuedKey } from '../auth/key.ts'
import { writeMoment } from '../text/moment.ts'
import { advise } from '../text/nearest.ts'
import { OperatorError, reasonOf } from '../config/operator-error.ts'
import { parseRate, rateForm } from '../config/rate.ts'
import { resources } from '../resources/index.ts'
import { openExistingStore, openStoreInspector, readKeyUsage } from '../store/open-store.ts'
import {
  type HandOver,
  type KeyRecord,
  type KeyUsage,
  allScopes,
  impliedScopes,
  namedScopes,
} from '../store/keys.ts'
import type { StoreInspector } from '../store/inspecting.ts'
import type { StoreWriter } from '../store/writing.ts'
import { lockWait, storeOf } from './progress.ts'
import {
  byAction,
  type Command,
  type CommandContext,
  type Input,
  keepingChanges,
  print,
  refuseWords,
} from './command.ts'
import { checkName, parseDuration, parseEnd } from './option-values.ts'
import { formatDay, formatMoment, tableLines } from './table.ts'
import { usagePath } from '../server/metering.ts'

const listings = resources.map(({ name }) => name)
/** The scopes that a key may have. */
export const scopeNames = allScopes(listings)
/** How long a rotated key keeps working by default. */
const usualOverlap = '7d'
const overlapMax = '1y'

export const keys: Command = {
  summary: 'create, rotate, list and revoke client keys',
  synopsis: [
    'keys create [--name] NAME [--expires WHEN] [--scopes NAME,…] [--rate RATE]',
    'keys rotate [--name] NAME [--overlap TIME] [--expires WHEN]',
    'keys list [--json]',
    'keys revoke [--name] NAME',
  ],
  details: `
\`create\` prints only the key, to standard output. It is shown once, since only its hash is stored.
\`rotate\` prints a new key with the same name, scopes, rate limit and expiry; the old key keeps
working for the time of --overlap. \`revoke\` revokes every key of that name. Every server on the
store applies a change within a second.

  dossier keys create --name acme
  dossier keys create --name trial --expires 30d --scopes rights,events
  dossier keys create --name small --rate 600/300s
  dossier keys rotate acme --overlap 7d`,
  options: {
    '--name NAME': 'the name of the key: up to 64 letters, digits, dots, _ and -',
    '--expires WHEN':
      'when the key expires: a date (2027-01-31) or a duration (90d, 12h, 1y); default: never, ' +
      'or when the key that `rotate` replaces does',
    '--scopes NAMES':
      `what it may read, comma-separated; default: ${impliedScopes(listings).join(', ')}; ` +
      `only if listed: ${namedScopes.join(', ')}`,
    '--rate RATE':
      'its rate limit, such as 600/300s, or none; default: the --default-rate of the server',
    '--overlap TIME': `how long the old key works, such as 12h or 0d; default: ${usualOverlap}`,
    '--json': 'print the list as JSON',
  },
  settings: ['db', 'withheld', 'usageDb'],
  run: byAction('keys', { create, rotate, list, revoke }),
}

async function create(input: Input, context: CommandContext): Promise<number> {
  const { options } = input
  const name = checkName('name', nameIn(input, 'create --name NAME'))
  const scopes = parseScopes(options['scopes'])
  const createdAt = context.now()
  const expiresAt = parseExpiry(input, createdAt)
  const rate = checkRate(options['rate'])
  const issued = makeIssuedKey()
  const key = { ...issued.stored, name, scopes, expiresAt, rate, createdAt }
  await using store = await openKeys(input, context)
  await handOver(issued, context, (print) => store.addKey(key, lockWait(context), print))
  return 0
}

async function rotate(input: Input, context: CommandContext): Promise<number> {
  const name = nameIn(input, 'rotate NAME')
  const now = context.now()
  const othersEndAt = now + parseOverlap(input.options['overlap'] ?? usualOverlap)
  const expiresAt = parseExpiry(input, now)
  const issued = makeIssuedKey()
  const makeNext = (replaced: KeyRecord) => ({
    key: { ...issued.stored, name, createdAt: now, expiresAt: expiresAt ?? replaced.expiresAt },
    othersEndAt,
  })
  await using store = await openKeys(input, context)
  const isDone = await handOver(issued, context, (print) =>
    store.rotateKey(name, now, makeNext, lockWait(context), print),
  )
  if (!isDone) throw await noSuchKey(store, name, now)
  return 0
}

async function revoke(input: Input, context: CommandContext): Promise<number> {
  const name = nameIn(input, 'revoke NAME')
  await using store = await openKeys(input, context)
  const now = context.now()
  if (!(await store.revokeKey(name, now, lockWait(context)))) {
    throw await noSuchKey(store, name, now)
  }
  context.stderr.writeLines(`Revoked the key ${name}.`)
  return 0
}

/** Opens the store to change its keys, once the arguments have been checked. */
function openKeys(input: Input, context: CommandContext): Promise<StoreWriter> {
  return openExistingStore(storeOf(input, context), resources)
}

/** The name of a key: the option, or the only word. @param usage of the action. */
function nameIn({ words, options }: Input, usage: string): string {
  const given = [...words, options['name'] ?? []].flat()
  const [action] = usage.split(' ')
  const [name, ...more] = given
  if (name === undefined) throw new UsageError(`name the key to ${action}: keys ${usage}`)
  if (more.length === 0) return name
  throw new UsageError(`keys ${action} takes one name, but got ${given.join(' ')}`)
}

async function list(input: Input, context: CommandContext): Promise<number> {
  refuseWords('keys list', input.words)
  await using store = await openStoreInspector(storeOf(input, context), resources)
  const records = await store.listKeys()
  const usage = await usageOf(store, input.settings, context)
  const listed = records.map((key) => ({ ...key, ...(usage && (usage.get(key.id) ?? unused)) }))
  const table = keyTable(listed, usage !== undefined, context.now())
  print(input, context, listed.map(keyJson), table)
  return 0
}

/**
 * Makes a change that stores a key, and prints the key once it is stored; a key that cannot be
 * printed is removed again. After that, only ending the keys that it replaces can fail.
 */
async function handOver<T>(
  { plain }: IssuedKey,
  context: CommandContext,
  change: (print: HandOver) => Promise<T>,
): Promise<T> {
  const key = { isPrinted: false }
  try {
    return await change(async () => {
      await context.stdout.deliverLine(plain).catch((error: unknown) => {
        throw new OperatorError(
          `the key could not be printed, so it was not kept; standard output: ${reasonOf(error)}`,
        )
      })
      key.isPrinted = true
    })
  } catch (error) {
    if (!key.isPrinted) throw error
    context.stderr.writeLines(
      'dossier: the printed key works; dossier keys list shows whether the earlier ones expire',
    )
    throw keepingChanges(error, context)
  }
}

async function noSuchKey(store: StoreWriter, name: string, now: number): Promise<OperatorError> {
  const valid = (await store.listKeys()).filter((key) => isValid(key, now))
  const names = valid.map((key) => key.name)
  const advice = advise(name, names, 'see: dossier keys list')
  return new OperatorError(`no valid key is named ${name}; ${advice}`)
}

function parseExpiry({ options: { expires } }: Input, now: number): number | undefined {
  return expires === undefined ? undefined : parseEnd(expires, now)
}

function parseOverlap(text: string): number {
  const overlap = parseDuration('overlap', text)
  if (overlap <= parseDuration('overlap', overlapMax)) return overlap
  throw new UsageError(`--overlap is ${text}; the maximum is ${overlapMax}`)
}

function checkRate(rate: string | undefined): string | undefined {
  if (rate === undefined || rate === 'none' || parseRate(rate)) return rate
  throw new UsageError(`--rate is ${JSON.stringify(rate)}; it must be none, or ${rateForm}`)
}

function parseScopes(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  const scopes = text.split(',').map((scope) => scope.trim())
  for (const scope of scopes) {
    if (scopeNames.includes(scope)) continue
    const advice = advise(scope, scopeNames)
    throw new UsageError(`${JSON.stringify(scope)} is not a scope; ${advice}`)
  }
  return [...new Set(scopes)]
}

/** A key with its use, if that is known. */
type ListedKey = KeyRecord & Partial<Usage>

/** The use of a key in the list; without `lastUsedAt` if it has not been used. */
type Usage = Omit<KeyUsage, 'keyId' | 'lastUsedAt'> & Partial<Pick<KeyUsage, 'lastUsedAt'>>

const unused: Usage = { requestsLastDay: 0, requestsLast30Days: 0 }

/** The use of each key; undefined if use is not metered or, after a warning, cannot be read. */
async function usageOf(
  store: StoreInspector,
  settings: Settings,
  { now, stderr }: CommandContext,
): Promise<ReadonlyMap<number, Usage> | undefined> {
  const path = usagePath(settings)
  if (path === undefined) return undefined
  const storeId = await store.readStoreId()
  try {
    return new Map(readKeyUsage(path, storeId, now()).map(({ keyId, ...usage }) => [keyId, usage]))
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    stderr.writeLines(`dossier: ${error.message}`)
    return undefined
  }
}

function keyJson({ id, name, hint, scopes, rate, ...key }: ListedKey): object {
  const { requestsLastDay: last_day, requestsLast30Days: last_30_days } = key
  const uses = { last_used_at: writeMoment(key.lastUsedAt), last_day, last_30_days }
  return {
    id,
    name,
    hint,
    scopes: scopes ?? null,
    created_at: writeMoment(key.createdAt),
    expires_at: writeMoment(key.expiresAt),
    revoked_at: writeMoment(key.revokedAt),
    rate: rate ?? null,
    uses: last_day === undefined ? null : uses,
  }
}

function keyTable(records: readonly ListedKey[], hasUsage: boolean, now: number): string[] {
  if (records.length === 0)
    return ['There are no keys yet. Create one with: dossier keys create --name NAME']
  // They come in the order of their ids.
  const newest = new Map(records.map(({ name, id }) => [name, id]))
  const rows = records.map((key) => [
    key.name,
    key.hint,
    stateOf(key, now, newest),
    (key.scopes ?? ['default']).join(','),
    key.rate ?? 'default',
    formatDay(key.createdAt),
    key.expiresAt === undefined ? 'never' : formatDay(key.expiresAt),
    ...(hasUsage ? usageCells(key) : []),
  ])
  const head = ['NAME', 'KEY', 'STATE', 'SCOPES', 'RATE', 'CREATED', 'EXPIRES']
  return tableLines([[...head, ...(hasUsage ? ['LAST USE', '1 DAY', '30 DAYS'] : [])], ...rows])
}

function usageCells({ lastUsedAt, requestsLastDay = 0, requestsLast30Days = 0 }: ListedKey) {
  return [
    lastUsedAt === undefined ? 'never' : formatMoment(lastUsedAt),
    formatCount(requestsLastDay),
    formatCount(requestsLast30Days),
  ]
}

/** @param newest the id of the newest key of each name. */
function stateOf(key: KeyRecord, now: number, newest: ReadonlyMap<string, number>): string {
  const { id, name, revokedAt, expiresAt } = key
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt !== undefined && expiresAt <= now) return 'expired'
  // A key that a rotation has replaced works until it expires.
  return newest.get(name) === id ? 'in use' : 'replaced'
}
