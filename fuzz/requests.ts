// Structured requests: mostly valid HTTP with arbitrary content.

import fc from 'fast-check'
import { selectionNames } from '../src/http/requests/selection-parameters.ts'
import { bounds } from '../src/http/requests/filter-values.ts'
import { sortFields } from '../src/resources/filters.ts'
import { resources } from '../src/resources/index.ts'
import { companies, type Keys } from './server.ts'
import type { Asked } from './judge.ts'

/** A request, and the properties to judge its response by. */
export interface FuzzedRequest extends Asked {
  readonly bytes: Buffer
  /** The id that its response must have. */
  readonly id: string | undefined
}

type Header = readonly [name: string, value: string]
type Weighted<T> = [weight: number, values: fc.Arbitrary<T>]

/** A parameter or field of one of these names. */
function named(names: string | readonly string[], values: fc.Arbitrary<string>) {
  return fc.tuple(fc.constantFrom(...[names].flat()), values)
}

/** One of several values, chosen by weight. */
function weighted<T>(...choices: Weighted<T>[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

const oddNumbers = fc.constantFrom(
  ...['0', '-1', '-0', '+1', '1.5', '1e3', '0x10', '05', '', ' 1', '1 ', '%31', '１', 'NaN'],
  ...['null', 'true', 'Infinity', '9007199254740991', '9007199254740992', '9'.repeat(30)],
  ...['9'.repeat(5_000), "1'--", '1;DROP TABLE companies', '$ne', '../..', '%00', '[]', '{}'],
)
const percentEncoded = fc.string({ unit: 'binary', maxLength: 20 }).map(encode)
const visible = fc.string({ unit: fc.constantFrom(...asciiFrom(0x21)), maxLength: 30 })

function asciiFrom(first: number): string[] {
  return Array.from({ length: 0x7f - first }, (_, at) => String.fromCharCode(first + at))
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

const companyId = weighted(
  [18, fc.constantFrom(String(companies.full), String(companies.empty))],
  [2, fc.constantFrom('XX:1', 'xx:2', 'XX:3', 'XX%3A1', 'XX:', ':1', 'XX:%00', 'XX:a%2Fb')],
  [1, fc.nat().map(String)],
  [2, oddNumbers],
  [1, percentEncoded],
)
const listing = weighted(
  [24, fc.constantFrom(...resources.map(({ name }) => name))],
  [1, fc.constantFrom('RIGHTS', 'rights/', 'rights;x=1', 'right', '', '%72ights', 'companies')],
  [1, percentEncoded],
)
const listingPath = fc
  .tuple(companyId, listing)
  .map(([company, name]) => `/api/v1/companies/${company}/${name}`)
const path = weighted(
  [24, listingPath],
  [6, companyId.map((company) => `/api/v1/companies/${company}`)],
  [6, fc.constant('/api/v1/companies')],
  [2, fc.constantFrom('/api/v1/key', '/api/v1/versions', '/llms.txt', '/docs/client.md')],
  [6, fc.constant('/api/v1/changes')],
  [1, fc.constantFrom('/api/v1/exports', '/api/v1/exports/1/manifest.json', '/api/v1/exports/1/x')],
  [1, fc.constantFrom('/healthz', '/readyz', '/docs', '/openapi.json', '/', '*', '', '//')],
  [1, listingPath.map((given) => `http://other.example${given}`)],
  [
    1,
    fc
      .tuple(listingPath, fc.nat(60), visible)
      .map(([given, at, text]) => given.slice(0, at) + text + given.slice(at)),
  ],
  [1, fc.array(percentEncoded, { maxLength: 4 }).map((parts) => `/api/v1/${parts.join('/')}`)],
  [1, visible],
  [1, fc.integer({ min: 1_000, max: 20_000 }).map((length) => `/${'a'.repeat(length)}`)],
)

const aboutVersions = weighted(
  [3, fc.integer({ min: 1, max: 8 }).map(String)],
  [2, fc.constantFrom('2024-01-31', '2100-01-31', '2100-01-31T12:00:00Z', '1970-01-01')],
  [1, oddNumbers],
)
const aboutCompanies = weighted(
  [4, fc.constantFrom('1', '2', 'XX', 'x', 'a b', '%C3%A9', 'northwind+tra', '-', '%20')],
  [1, percentEncoded],
  [1, oddNumbers],
)
/** The parameters of each listing, with bounds and without. */
const selection = fc.constantFrom(
  ...new Set(
    resources
      .flatMap(selectionNames)
      .flatMap((name) => [name, ...bounds.map((bound) => `${name}[${bound}]`)]),
  ),
)
const selected = weighted(
  [3, fc.constantFrom('', '2019-01-31', '2019-02-30', '2019-01-31T12:00:00.5Z', '1', 'EUR', ',')],
  [2, fc.constantFrom(...resources.flatMap(sortFields).flatMap((name) => [name, `-${name}`]))],
  [1, oddNumbers],
  [1, percentEncoded],
)
const number = weighted(
  [4, fc.integer({ min: 0, max: 8 }).map(String)],
  [1, fc.nat().map(String)],
  [1, fc.constantFrom('-1', '2147483648', '9999999999', '9007199254740993', '9999999999999999')],
)
const point = fc
  .tuple(number, fc.constantFrom('', '', '.0123456789abcdef.1', '.0123456789abcdef.zzzzzzzzz'))
  .map((parts) => parts.join(''))
const listingName = fc.constantFrom('companies', 'names', ...resources.map(({ name }) => name))
const place = fc
  .tuple(listingName, fc.array(number, { minLength: 1, maxLength: 5 }))
  .map(([name, numbers]) => [name, ...numbers].join('.'))
const cursor = weighted(
  [3, point],
  [
    2,
    fc
      .tuple(point, point, place, fc.constantFrom('.', 'rights.', '.1', 'rights.1'))
      .map((parts) => parts.join('~')),
  ],
  [1, visible.map(encode)],
)
const aboutChanges = weighted<Header>(
  [4, named('after', cursor)],
  [2, named(['until', 'before'], cursor)],
  [1, named('resource', listingName)],
  [1, named('company_id', companyId)],
  [1, named('wait', fc.constantFrom('0', '1', '61', '-1', '0.5', 'x', ''))],
  [2, named('format', fc.constantFrom('json', 'csv', 'ndjson', 'xml', ''))],
)
const goodNumber = fc.integer({ min: 1, max: 1_000 }).map(String)
const parameter = weighted(
  [6, named('page', fc.oneof(fc.integer({ min: 1, max: 5 }).map(String), goodNumber))],
  [6, named('limit', goodNumber)],
  [1, named(['page', 'limit'], fc.oneof(oddNumbers, percentEncoded))],
  [1, named(['pgae', '__proto__', 'page[]', 'constructor[x]', 'PAGE'], goodNumber)],
  [3, named(['version', 'as_of', 'known_at'], aboutVersions)],
  [3, named(['identifier', 'q', 'jurisdiction'], aboutCompanies)],
  [6, fc.tuple(selection, selected)],
  [6, aboutChanges],
  [1, fc.tuple(percentEncoded, percentEncoded)],
)
const query = weighted(
  [5, fc.constant('')],
  [6, fc.array(parameter, { maxLength: 2 }).map(queryText)],
  [1, fc.array(parameter, { maxLength: 6 }).map(queryText)],
  [1, visible.map((text) => `?${text}`)],
)

function queryText(pairs: readonly Header[]): string {
  const text = pairs.map(([name, value]) => `${name}=${value}`).join('&')
  return text === '' ? '' : `?${text}`
}

const jsonBody = weighted(
  [
    4,
    fc.record(
      { page: fc.integer({ min: 1, max: 5 }), limit: fc.integer({ min: 1, max: 1_000 }) },
      { requiredKeys: [] },
    ),
  ],
  [2, fc.record({ page: fc.jsonValue({ maxDepth: 2 }), limit: fc.jsonValue({ maxDepth: 2 }) })],
  [1, fc.jsonValue()],
).map((value) => JSON.stringify(value))
const body = weighted(
  [3, jsonBody.map((text) => Buffer.from(text))],
  [1, fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))],
  [1, fc.tuple(jsonBody, fc.nat(20)).map(([text, cut]) => Buffer.from(text.slice(0, -cut)))],
  [1, fc.integer({ min: 16_000, max: 18_000 }).map((length) => Buffer.alloc(length, '['))],
)

/** The framing of a body: none, by its length, or chunked. */
const framing = weighted<'none' | 'length' | 'chunked'>(
  [8, fc.constant('none')],
  [2, fc.constant('length')],
  [1, fc.constant('chunked')],
)
const method = weighted(
  [16, fc.constant('GET')],
  [3, fc.constant('HEAD')],
  [2, fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PURGE')],
  [1, fc.constantFrom('get', 'FOO', 'CONNECT', 'GET GET', '')],
)

const fieldValue = weighted(
  [3, fc.string({ unit: fc.constantFrom(...asciiFrom(0x20)), maxLength: 60 })],
  // Without line breaks, which would start another field or request; raw requests cover those.
  [1, fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.replace(/[\r\n]/g, ' '))],
  [1, fc.integer({ min: 100, max: 18_000 }).map((length) => 'v'.repeat(length))],
)
const knownField = fc.constantFrom<Header>(
  ['accept', 'text/html'],
  ['accept-encoding', 'gzip'],
  ['accept-encoding', 'zstd, br;q=0.5, *;q=0'],
  ['accept-encoding', 'identity;q=0'],
  ['content-type', 'application/json; charset=utf-8'],
  ['content-type', 'text/plain'],
  ['content-encoding', 'gzip'],
  ['expect', '100-continue'],
  ['expect', 'more'],
  ['if-none-match', '*'],
  ['if-none-match', 'W/"x", "y"'],
  ['range', 'bytes=0-1'],
  ['upgrade', 'websocket'],
  ['connection', 'close'],
  ['connection', 'upgrade'],
  ['origin', 'https://evil.example'],
  ['access-control-request-method', 'GET'],
  ['x-forwarded-for', '127.0.0.1'],
  ['x-http-method-override', 'DELETE'],
  ['x-request-id', 'a b'],
  ['__proto__', 'x'],
  ['host', 'second.example'],
  ['authorization', 'Bearer second'],
  ['transfer-encoding', 'identity'],
)
const namedField = fc.constantFrom(
  ...['accept', 'accept-encoding', 'accept-language', 'content-type', 'cookie', 'if-none-match'],
  ...['if-modified-since', 'range', 'x-request-id', 'user-agent', 'forwarded', 'te', 'trailer'],
  ...['constructor', 'x-a', 'via', 'referer', 'priority', 'origin', 'expect'],
)
const field = weighted<Header>(
  [3, knownField],
  [2, fc.tuple(namedField, fieldValue)],
  [1, fc.tuple(fc.string({ maxLength: 8 }), fieldValue)],
)
const fields = weighted(
  [10, fc.constant<Header[]>([])],
  [4, fc.array(field, { maxLength: 3 })],
  [1, fc.integer({ min: 60, max: 130 }).map(manyFields)],
)

function manyFields(count: number): Header[] {
  return Array.from({ length: count }, (_, at) => [`x-${at}`, 'v'])
}

type KeyKind = keyof Keys | 'none' | 'broken' | 'odd'
const keyKind = weighted<KeyKind>(
  [12, fc.constant('good')],
  [1, fc.constantFrom('narrow', 'limited', 'expired', 'revoked', 'none', 'broken', 'odd')],
)
const scheme = weighted([6, fc.constant('Bearer')], [1, fc.constantFrom('bearer', 'BEARER')])
const oddAuthorization = fc.oneof(
  fieldValue,
  fc.constantFrom('Basic Og==', 'Bearer', 'Bearer  ', 'Bearer a b', 'Bearer dossier_'),
)

/** Any structured request. */
export function anyRequest(keys: Keys): fc.Arbitrary<FuzzedRequest> {
  const parts = fc.record({
    ...{ method, path, query, fields, framing, body, keyKind, scheme, oddAuthorization },
    cut: fc.nat(1_000),
    id: fc.option(fc.nat().map((number) => `fuzz-${number}`)),
  })
  return parts.map((given) => {
    const target = given.path + given.query
    const value = authorization(keys, given)
    const id: Header[] = given.id === null ? [] : [['x-request-id', given.id]]
    const key: Header[] = value === undefined ? [] : [['authorization', value]]
    const all = [...id, ...key, ...given.fields]
    const isNamedAgain = given.fields.some(([name]) => /^x-request-id$/i.test(name.trim()))
    return {
      method: given.method,
      target,
      isEntitled: opens(given.keyKind, target),
      id: isNamedAgain ? undefined : (given.id ?? undefined),
      bytes: write(`${given.method} ${target} HTTP/1.1`, all, given),
    }
  })
}

function authorization(
  keys: Keys,
  given: { keyKind: KeyKind; scheme: string; oddAuthorization: string },
): string | undefined {
  if (given.keyKind === 'none') return undefined
  if (given.keyKind === 'odd') return given.oddAuthorization
  if (given.keyKind === 'broken') return `${given.scheme} ${keys.good.slice(0, -1)}`
  return `${given.scheme} ${keys[given.keyKind]}`
}

/** Whether a kind of key may get more than a refusal; a narrow one not for other listings. */
function opens(kind: KeyKind, target: string): boolean {
  if (kind === 'good' || kind === 'limited') return true
  return kind === 'narrow' && !otherListing.test(target)
}

const otherNames = resources.map(({ name }) => name).filter((name) => name !== 'rights')
const otherListing = new RegExp(
  '^(?:http://[^/]*)?/api/v1/companies' +
    `(?:|/[^/?]+|/[^/?]+/(?:${otherNames.join('|')}))(?:[?]|$)`,
)

function write(
  start: string,
  headers: readonly Header[],
  { framing: frame, body: bytes }: { framing: 'none' | 'length' | 'chunked'; body: Buffer },
): Buffer {
  const framed: Header[] = []
  if (frame !== 'none') framed.push(['content-type', 'application/json'])
  if (frame === 'length') framed.push(['content-length', String(bytes.length)])
  if (frame === 'chunked') framed.push(['transfer-encoding', 'chunked'])
  const lines = [['host', 'localhost'], ...framed, ...headers].map((pair) => pair.join(': '))
  const head = Buffer.from(`${[start, ...lines].join('\r\n')}\r\n\r\n`)
  if (frame === 'none') return head
  return Buffer.concat([head, frame === 'length' ? bytes : chunked(bytes)])
}

function chunked(bytes: Buffer): Buffer {
  const end = Buffer.from('0\r\n\r\n')
  if (bytes.length === 0) return end
  const middle = Math.ceil(bytes.length / 2)
  const pieces = [bytes.subarray(0, middle), bytes.subarray(middle)].filter(({ length }) => length)
  const written = pieces.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, '\r\n'])
  return Buffer.concat([...written.map((part) => Buffer.from(part)), end])
}
