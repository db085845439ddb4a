// The real application over a real store, called without a socket.

import assert from 'node:assert/strict'
import inject from 'light-my-request'
import { pino } from 'pino'
import { type App, type AppOptions, buildApp } from '../../src/http/app.ts'
import { createLoad, type LoadLimits } from '../../src/http/wire/load.ts'
import type { AssetLimits } from '../../src/http/static-assets.ts'
import type { ScanLimits } from '../../src/http/scan-turns.ts'
import type { WireLimits } from '../../src/http/wire/server.ts'
import { createAuthenticate } from '../../src/auth/authenticate.ts'
import { createCounter } from '../../src/auth/counter.ts'
import { createLimit } from '../../src/auth/rate-limit.ts'
import { createThrottle } from '../../src/auth/throttle.ts'
import { parseRate, type Rate } from '../../src/config/rate.ts'
import { resources as allResources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { inOrder, metaOf, type WireRecord } from './make-record.ts'
import { patientBounds } from './store-at.ts'
import { type CompanyRecords, makeTempStore, type Scope } from './temp-store.ts'

type AppSettings = Pick<
  AppOptions,
  | 'resources'
  | 'cacheBytesMax'
  | 'corsOrigins'
  | 'trustedProxies'
  | 'isExplorerOn'
  | 'exportsFolder'
  | 'countUse'
  | 'readUses'
>

interface MakeAppOptions extends Partial<AppSettings> {
  readonly records?: readonly CompanyRecords[]
  /** Known companies in addition to those with records. */
  readonly companies?: readonly number[]
  readonly now?: () => number
  /** Wraps the store, to break it or to delay it. */
  readonly wrapStore?: (store: StoreReader) => StoreReader
  readonly limits?: Partial<WireLimits & LoadLimits & ScanLimits & AssetLimits>
  /** The failed attempts allowed to an address; unlimited by default. */
  readonly badKeyRate?: Rate
  /** The rate of keys without their own; unlimited by default. */
  readonly defaultRate?: string
  /** Milliseconds that are never set back. */
  readonly clock?: () => number
}

/** A request except its path. `Authorization` has a valid key by default. */
export interface Question {
  readonly method?: string
  /** Another key. */
  readonly key?: string
  /** The Authorization field; null for none. */
  readonly authorization?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** A body as JSON, with its type. */
  readonly json?: object
  /** The address that the request comes from. */
  readonly from?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: Buffer
  readonly text: string
}

export type TestApp = Readonly<Awaited<ReturnType<typeof makeApp>>>

/** Builds a store and an application over it; both are closed when the scope ends. */
export async function makeApp(scope: Scope, options: MakeAppOptions = {}) {
  const { records = [], companies, now = Date.now, wrapStore, limits = {}, ...more } = options
  const { badKeyRate, defaultRate = 'none', clock = () => performance.now(), ...settings } = more
  const { resources = allResources } = settings
  const store = await makeTempStore(scope, resources)
  if (companies !== undefined) await store.loadCompanies(companies)
  await store.load(records)
  const key = await store.issueKey({ name: 'test' })

  const opened = await openStoreReader(store.db, patientBounds)
  const { reader, callsOf } = countCalls(wrapStore?.(opened) ?? opened)
  const throttle = badKeyRate && createThrottle(badKeyRate, clock)
  const lines: string[] = []
  const logger = pino({ base: null }, { write: (line) => void lines.push(line) })
  const app = buildApp({
    store: reader,
    authenticate: createAuthenticate(reader, now, throttle),
    limitRate: createLimit(parseRate(defaultRate), createCounter(clock)),
    cacheBytesMax: 1_048_576,
    logger,
    // Loading a store in this process makes the event loop late without overload.
    load: createLoad({ requestsMax: 2_000, delayMsMax: Number.MAX_VALUE, ...limits }, logger),
    limits: { connectionsMax: 10_000, ...limits },
    ...settings,
    resources,
  })
  scope.after(async () => {
    await app.close()
    await reader.close()
  })

  return {
    app,
    store,
    /** The path that names the store in tests. */
    db: store.path,
    /** A key without scopes, so valid for all listings. */
    key,
    ask: (path: string, question: Question = {}) => ask(app, path, { key, ...question }),
    /** How often the application has called these functions of its store. */
    callsOf,
    /** The lines of the log so far, parsed. */
    logged: () => lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
  }
}

function countCalls(store: StoreReader) {
  const counts = new Map<string | symbol, number>()
  const reader = new Proxy(store, {
    get(target, name) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
      return Reflect.get(target, name) as unknown
    },
  })
  const callsOf = (...names: readonly (keyof StoreReader)[]) =>
    names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0)
  return { reader, callsOf }
}

/** Makes an application listen; returns its port. */
export async function listenOn({ app }: Pick<TestApp, 'app'>): Promise<number> {
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

async function ask(app: App, path: string, question: Question): Promise<Answer> {
  const { method = 'GET', key, authorization = `Bearer ${key}`, headers, json, from } = question
  const { body = json && JSON.stringify(json) } = question
  const response = await inject(app.handle, {
    method: method as 'GET',
    url: path,
    headers: {
      ...(authorization !== null && { authorization }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: body }),
    ...(from === undefined ? {} : { remoteAddress: from }),
  })
  return {
    status: response.statusCode,
    headers: response.headers as Answer['headers'],
    bytes: response.rawPayload,
    text: response.body,
  }
}

/** The path of a company's listing. */
export function pathOf(resource: Resource, company: number | string): string {
  return `/api/v1/companies/${company}/${resource.name}`
}

/** An expected page; `all` are the records of the company, in any order. */
interface ExpectedPage {
  readonly resource: Resource
  readonly all: readonly WireRecord[]
  readonly page?: number
  readonly limit?: number
}

/** The body required by contract 3.1 to 3.7, byte for byte. */
export function expectedBody({ resource, all, page = 1, limit = 100 }: ExpectedPage): string {
  const offset = (page - 1) * limit
  const meta = metaOf(resource, all)
  return JSON.stringify({
    ok: true,
    [resource.name]: inOrder(resource, all).slice(offset, offset + limit),
    ...(meta === undefined ? {} : { meta }),
    total: all.length,
    pagination_total: all.length,
    pagination_offset: offset,
  })
}

/** Checks that an answer is the page of the listing, byte for byte. */
export function checkPage(answer: Answer, expected: ExpectedPage): void {
  assert.equal(answer.text, expectedBody(expected))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
}

/** The bytes of a failure (section 7 of the specification). */
export function failureText(status: number, message: string): string {
  return `{"ok":false,"error":{"code":${status},"message":${JSON.stringify(message)}}}`
}

/**
 * Checks that the tag of what is asked for gets a 304, and HEAD the tag and no body (contract 1.1,
 * 5); returns the tag.
 */
export async function checkTag(ask: (question: Question) => Promise<Answer>): Promise<string> {
  const tag = (await ask({})).headers['etag'] ?? assert.fail('there is no tag')
  const again = await ask({ headers: { 'if-none-match': tag } })
  assert.deepEqual([again.status, again.text, again.headers['etag']], [304, '', tag])
  const head = await ask({ method: 'HEAD' })
  assert.deepEqual([head.status, head.text, head.headers['etag']], [200, '', tag])
  return tag
}

/** Checks that an answer is a failure in the contract's form with a matching message (section 4). */
export function checkFailure(
  answer: Pick<Answer, 'status' | 'headers' | 'text'>,
  status: number,
  message: string | RegExp,
): void {
  const { headers } = answer
  assert.equal(answer.status, status, answer.text)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(headers['content-length'], String(Buffer.byteLength(answer.text)))
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['cache-control'], 'no-store')
  const absent = ['etag', 'data-version', 'server', 'x-powered-by', 'location', 'content-location']
  // What was pruned has a link to what is there (9.3).
  if (status !== 410) absent.push('link')
  for (const name of absent) assert.equal(headers[name], undefined, name)
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]{1,64}$/)
  const given = messageOf(answer)
  assert.equal(answer.text, failureText(status, given), 'no member more or less')
  if (typeof message === 'string') assert.equal(given, message)
  else assert.match(given, message)
}

export function messageOf({ text }: Pick<Answer, 'text'>): string {
  const { error } = JSON.parse(text) as { error: { message: string } }
  return error.message
}

/** The links of an answer, by their relation. */
export function linksOf({ headers }: Answer): Readonly<Record<string, string>> {
  const links = (headers['link'] ?? '').matchAll(/<([^>]+)>; rel="([\w-]+)"(?:, |$)/g)
  return Object.fromEntries([...links].map(([, url = '', rel = '']) => [rel, url]))
}

/** A member of an answer's body. */
export function memberOf({ text }: Answer, name: string): unknown {
  return (JSON.parse(text) as Readonly<Record<string, unknown>>)[name]
}
