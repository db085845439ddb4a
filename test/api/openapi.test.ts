// The OpenAPI document is valid and complete, and the service conforms to it.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exampleRecord } from '../../scripts/openapi/records.ts'
import { parseCursor } from '../../src/http/requests/cursors.ts'
import { nameBytesMax } from '../../src/import/rows/normalise.ts'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { programVersion } from '../../src/server/program-version.ts'
import {
  type Document,
  readAnnouncement,
  type Parameter,
  type Response,
} from '../support/announcement.ts'
import { objectsIn, resolve } from '../support/json-schema.ts'
import { makeApp, pathOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'

const records = resources.map((resource) => {
  return { resource, company: 1, records: makeRecords(resource, 3) }
})
const { ask, store } = await makeApp({ after }, { records })
const answer = await ask('/openapi.json', { authorization: null })
const document = JSON.parse(answer.text) as Document
const { checkAnnounced, deref, responsesOf, validate } = readAnnouncement(document)
const operations = Object.entries(document.paths).map(([path, item]) => ({ path, item }))
/** The path of the operation that stands for all listings in other formats than JSON. */
const exporting = '/api/v1/companies/{company_id}/{listing}'

test('the document is OpenAPI 3.1, and needs no key', () => {
  assert.equal(answer.status, 200)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/)
  assert.match(document.openapi, /^3\.1\.\d+$/)
  assert.equal(document.info['title'], 'Dossier')
  assert.equal(document.info['version'], programVersion())
  assert.deepEqual(document['security'], [{ key: [] }])
  const { key } = document.components['securitySchemes'] as { key: Record<string, string> }
  assert.equal(key['type'], 'http')
  assert.equal(key['scheme'], 'bearer')
})

test('Retry-After never exceeds the announced maximum', async (t) => {
  const made = await makeApp(t, {
    defaultRate: '1/31d',
    badKeyRate: { quota: 1, seconds: 31 * 86_400 },
  })
  const path = pathOf(rights, 1)
  const operation = document.paths['/api/v1/companies/{company_id}/rights']?.get ?? assert.fail()
  for (const question of [{}, { authorization: 'Bearer x' }]) {
    await made.ask(path, question)
    const refused = await made.ask(path, question)
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers['retry-after']) > 30 * 86_400)
    checkAnnounced(operation, refused)
  }
})

test('every reference resolves, and every component is used', () => {
  const used = new Set<unknown>()
  for (const [, part] of objectsIn(document)) {
    if ('$ref' in part) {
      resolve(document, part['$ref'])
      used.add(part['$ref'])
    }
  }
  for (const [kind, parts] of Object.entries(document.components)) {
    if (kind === 'securitySchemes') continue
    for (const name of Object.keys(parts)) {
      assert.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is not used`)
    }
  }
})

test('a choice of schemas has no default beside it, which generated checks do not compile', () => {
  for (const [where, part] of objectsIn(document)) {
    assert.ok(!('oneOf' in part && 'default' in part), where)
  }
})

test('every value it describes has a bound', () => {
  const bounds: Readonly<Record<string, readonly string[]>> = {
    string: ['maxLength'],
    integer: ['format', 'minimum', 'maximum'],
    array: ['maxItems', 'items'],
    object: ['properties', 'additionalProperties'],
  }
  for (const [where, part] of objectsIn(document)) {
    const types = [part['type']].flat()
    if ('enum' in part) continue
    if (where.includes('/examples') || where.includes('/example')) continue
    for (const type of types) {
      for (const name of bounds[String(type)] ?? []) {
        // A format such as date-time also bounds a text.
        const isBounded = name in part || (type === 'string' && 'format' in part)
        assert.ok(isBounded, `${where} has no ${name}`)
      }
    }
  }
})

test('its paths are those of companies, listings, versions and health checks', () => {
  const listings = resources.map((resource) => pathOf(resource, '{company_id}'))
  const copies = ['', '/{version}/manifest.json', '/{version}/{file}'].map(
    (end) => `/api/v1/exports${end}`,
  )
  const registry = ['/api/v1/versions', '/api/v1/changes', ...copies, '/api/v1/key']
  const others = [...registry, '/healthz', '/readyz']
  const search = ['/api/v1/companies', '/api/v1/companies/{company_id}']
  assert.deepEqual(Object.keys(document.paths), [...search, ...listings, ...others, exporting])
  const ids = operations.map(({ item }) => item.get.operationId)
  assert.equal(new Set(ids).size, ids.length)
})

/** Requests of pages, and the status of each. */
function paged(url: string): readonly (readonly [number, string])[] {
  return [
    [200, `${url}?page=2&limit=2`],
    [200, `${url}?page=99`],
    [400, `${url}?limit=0`],
  ]
}

for (const { path, item } of operations) {
  const url = path.replace('{company_id}', '1')
  const operation = item.get
  const isListing = path.includes('{company_id}')
  const isPaged = isListing && !path.endsWith('{company_id}')
  // See below, companies.test.ts and versions.test.ts.
  if (path === exporting || (!isListing && path.startsWith('/api/'))) continue

  test(`${path} answers as the document announces`, async () => {
    const plain = await ask(url, isListing ? {} : { authorization: null })
    assert.equal(plain.status, 200)
    checkAnnounced(operation, plain)
    assert.equal(operation.security?.length, isListing ? undefined : 0)
    assert.ok(operation.summary && operation.description)
  })

  test(`${path}: the examples of every response are valid against its schema`, () => {
    const withContent = responsesOf(operation).filter(([, { content }]) => content !== undefined)
    assert.ok(withContent.length >= 2)
    for (const [status, { content, description }] of withContent) {
      assert.ok(description, status)
      for (const { schema, examples } of Object.values(content ?? {})) {
        const values = Object.values(examples)
        assert.ok(values.length > 0, `${status} has an example`)
        for (const { value } of values) validate(schema, value, `${path} ${status}`)
      }
    }
  })

  if (!isListing) {
    test(`${path}: announces the refusals of HTTP, but none of a listing`, async () => {
      const statuses = Object.keys(operation.responses).join(' ')
      assert.equal(statuses, '200 400 405 408 413 417 431 503 505')
      checkAnnounced(operation, await ask(path, { method: 'POST', authorization: null }))
    })
    continue
  }

  test(`${path}: refusals and the 304 match the document`, async () => {
    const tag = (await ask(url)).headers['etag'] ?? ''
    const text = { 'content-type': 'text/plain' }
    const questions: readonly (readonly [number, string, Parameters<typeof ask>[1]?])[] = [
      ...(isPaged ? paged(url) : []),
      [304, url, { headers: { 'if-none-match': tag } }],
      [400, `${url}?nonsense=0`],
      [400, path.replace('{company_id}', 'x')],
      [403, url, { authorization: null }],
      [404, path.replace('{company_id}', '404')],
      // With Retry-After.
      [404, `${url}?version=9999`],
      [405, url, { method: 'POST' }],
      [413, url, { body: 'x'.repeat(20_000) }],
      [415, url, { body: 'x', headers: text }],
    ]
    for (const [status, asked, question] of questions) {
      const given = await ask(asked, question)
      assert.equal(given.status, status)
      checkAnnounced(operation, given)
    }
  })

  test(`${path}: announces every status of contract section 4, and HTTP's own`, () => {
    const own = ['414', '417', '429', '505']
    assert.deepEqual(
      Object.keys(operation.responses).filter((status) => !own.includes(status)),
      ['200', '304', '400', '403', '404', '405', '408', '410', '413', '415', '431', '500', '503'],
    )
    for (const [status, { content }] of responsesOf(operation)) {
      if (Number(status) < 400) continue
      for (const { value } of Object.values(content?.['application/json']?.examples ?? {})) {
        assert.equal((value as { error: { code: number } }).error.code, Number(status))
      }
    }
  })

  test(`${path}: takes company_id, and what goes with it, in the ranges announced`, async () => {
    const parts = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
    const parameters = parts.map((part) => deref<Parameter>(part))
    for (const { name, description, schema, example } of parameters) {
      assert.ok(description, name)
      const { examples } = schema as { examples?: readonly unknown[] }
      validate(schema, example ?? examples?.[0], name)
    }
    // The reference page shows only parameters declared on the operation.
    assert.equal(operation.parameters?.length, parameters.length)
    const places = parameters.map(({ name, in: place }) => `${place} ${name}`)
    const first = isPaged ? ['query page', 'query limit'] : ['query version', 'query as_of']
    assert.deepEqual(places.slice(0, 3), ['path company_id', ...first])
    assert.deepEqual(places.slice(-2), ['header If-None-Match', 'header X-Request-Id'])
    for (const { name, in: place, schema } of parameters) {
      if (place !== 'query' || !['page', 'limit'].includes(name)) continue
      const range = schema as { minimum: number; maximum: number; default: number }
      const status = async (value: number) => (await ask(`${url}?${name}=${value}`)).status
      assert.equal(await status(range.minimum), 200)
      assert.equal(await status(range.maximum), 200)
      assert.equal(await status(range.minimum - 1), 400)
      assert.equal(await status(range.maximum + 1), 400)
      const asDefault = await ask(`${url}?${name}=${range.default}`)
      assert.equal(asDefault.text, (await ask(url)).text)
    }
  })
}

for (const resource of resources) {
  test(`${resource.name}: a generated client types the answer as the page, and text in an operation of its own`, async () => {
    const { get: listing } = document.paths[pathOf(resource, '{company_id}')] ?? assert.fail()
    const { content } = deref<Response>(listing.responses['200'])
    assert.deepEqual(Object.keys(content ?? {}), ['application/json'])
    const { get: asText } = document.paths[exporting] ?? assert.fail()
    const names = asText.parameters?.map((part) => deref<Parameter>(part).name) ?? []
    for (const part of listing.parameters ?? []) {
      assert.ok(names.includes(deref<Parameter>(part).name))
    }
    for (const question of ['format=csv', 'format=ndjson&limit=all', 'format=csv&limit=0']) {
      const text = await ask(`${pathOf(resource, 'GB:1')}?${question}`)
      checkAnnounced(asText, text)
      const byId = await ask(`${pathOf(resource, 1)}?${question}`)
      assert.equal(byId.status, question.endsWith('=0') ? 400 : 200)
      checkAnnounced(asText, byId)
      const tag = { 'if-none-match': byId.headers['etag'] ?? '' }
      checkAnnounced(asText, await ask(`${pathOf(resource, 1)}?${question}`, { headers: tag }))
    }
  })

  test(`the filters, orders and versions announced for ${resource.name} are taken`, async () => {
    const url = pathOf(resource, 1)
    const operation = document.paths[pathOf(resource, '{company_id}')]?.get
    const parameters = (operation?.parameters ?? []).map((part) => deref<Parameter>(part))
    const queries = parameters.filter(({ in: place, name }) => place === 'query' && name !== 'page')
    assert.ok(queries.length > 5)
    for (const { name, schema } of queries) {
      const { examples = [], default: usual } = schema as {
        examples?: (string | number | string[])[]
        default?: number
      }
      const value = encodeURIComponent((examples[0] ?? usual ?? '').toString())
      const { status, text } = await ask(`${url}?${encodeURIComponent(name)}=${value}`)
      assert.equal(status, 200, `${name}: ${text}`)
    }
  })

  test(`a word is a value of a parameter of ${resource.name} if its pattern announces that`, async () => {
    const { get: operation } = document.paths[pathOf(resource, '{company_id}')] ?? assert.fail()
    const day = '2024-01-31'
    const moments = ['Z', '.500Z', '.5Z', '+00:00', ''].map((end) => `${day}T12:00:00${end}`)
    for (const part of operation.parameters ?? []) {
      const { name, in: place, schema } = deref<Parameter>(part)
      const { items = schema } = schema as { items?: unknown }
      const { pattern, examples } = items as { pattern?: string; examples?: unknown }
      assert.ok(pattern ?? !/^\d{4}-/.test(String(examples)), `${name} says what a moment is`)
      if (place !== 'query' || pattern === undefined) continue
      for (const word of ['', day, ...moments, '2024-01-31t12:00:00z', '7', '-7', '7.5']) {
        const query = `${encodeURIComponent(name)}=${encodeURIComponent(word)}`
        const { status } = await ask(`${pathOf(resource, 1)}?${query}`)
        const isTaken = new RegExp(pattern, 'u').test(word)
        assert.equal(status !== 400, isTaken, `${query}: ${status}`)
      }
    }
  })

  test(`every field of ${resource.name} is listed in order, with its description`, () => {
    const operation = document.paths[pathOf(resource, '{company_id}')]?.get
    const page = deref<Response>(operation?.responses['200'])
    const schema = deref<{ properties: Record<string, { items: unknown }>; required: string[] }>(
      page.content?.['application/json']?.schema,
    )
    const record = deref<{
      properties: Record<string, { description: string; examples: unknown[] }>
      required: string[]
      examples: unknown[]
    }>(schema.properties[resource.name]?.items)
    const names = Object.keys(resource.fields)
    assert.deepEqual([Object.keys(record.properties), record.required], [names, names])
    for (const [name, { description, example }] of Object.entries(resource.fields)) {
      assert.ok(description.length > 5, name)
      assert.equal(record.properties[name]?.description, description)
      assert.deepEqual(record.properties[name].examples, [example])
    }
    for (const example of [exampleRecord(resource), ...record.examples]) validate(record, example)
  })
}

test('examples of cursors are cursors, and the longest register number is announced', () => {
  const { headers = {}, parameters = {} } = document.components
  for (const name of ['Changes-Until', 'Changes-Next']) {
    const { example } = headers[name] as { example: string }
    assert.ok(parseCursor(example), example)
  }
  const changes = document.paths['/api/v1/changes']?.get.parameters as readonly Parameter[]
  const inQuery = changes.find(({ name }) => name === 'company_id')
  for (const { schema } of [parameters['company_id'] as Parameter, inQuery ?? assert.fail()]) {
    const [jurisdiction, identifier] = ['J', '7'].map((one) => one.repeat(nameBytesMax))
    validate(schema, `${jurisdiction}:${identifier}`)
  }
})

test('what names nothing is never absent, and a text is not empty', async () => {
  for (const path of ['/companies', '/versions', '/exports', '/key']) {
    const { responses } = document.paths[`/api/v1${path}`]?.get ?? assert.fail()
    assert.ok(!('404' in responses) && !('410' in responses), path)
  }
  const key = await store.issueKey({ name: 'follower', scopes: ['companies', 'changes'] })
  for (const path of ['/api/v1/companies', '/api/v1/changes']) {
    const parameters = document.paths[path]?.get.parameters ?? []
    for (const { name, schema } of parameters.map((part) => deref<Parameter>(part))) {
      const { type, items = schema } = schema as { type?: string; items?: unknown }
      if (type === 'integer' || name.includes('-')) continue
      assert.throws(() => validate(items, ''), name)
      const { status } = await ask(`${path}?${name}=`, { key })
      assert.equal(status, 400, name)
    }
  }
})

test('the numbers in an example agree with its records (3.7)', () => {
  for (const { path, item } of operations) {
    const { content = {} } = deref<Response>(item.get.responses['200'])
    const { value } = Object.values(content['application/json']?.examples ?? {})[0] ?? {}
    const {
      meta,
      total,
      changes = [],
    } = (value ?? {}) as {
      meta?: readonly { count: number }[]
      total?: number
      changes?: readonly { id: number; record: { id: number } }[]
    }
    const sum = meta?.reduce((all, { count }) => all + count, 0)
    assert.equal(sum ?? total, total, path)
    for (const { id, record } of changes) assert.equal(id, record.id, path)
  }
})

test('no answer is announced as JSON or text, which a caller would have to tell apart', () => {
  for (const { path, item } of operations) {
    const { content } = deref<Response>(item.get.responses['200'])
    const types = Object.keys(content ?? {})
    assert.ok(types.length === 1 || !types.includes('application/json'), path)
  }
})

test('the resource of a change tells which record it has', () => {
  const schema = { $ref: '#/components/schemas/Change' }
  const one = { company_id: 1, id: 1, version: 1, change: 'put' }
  for (const { name } of resources) {
    for (const other of resources) {
      const change = { ...one, resource: name, record: exampleRecord(other) }
      if (other.name === name) validate(schema, change)
      else assert.throws(() => validate(schema, change), `${name} with ${other.name}`)
    }
    validate(schema, { ...one, resource: name, change: 'remove', record: null })
  }
})

test('files are announced as bytes, which generated clients do not decode', () => {
  const { get } = document.paths['/api/v1/exports/{version}/{file}'] ?? assert.fail()
  for (const status of ['200', '206']) {
    const { content } = deref<Response>(get.responses[status])
    const formats = Object.values(content ?? {}).map(
      ({ schema }) => (schema as { format?: string }).format,
    )
    assert.deepEqual(formats, ['binary', 'binary'])
  }
})

test('an answer with all records may be longer than a page', () => {
  const { content } = deref<Response>(document.paths[exporting]?.get.responses['200'])
  for (const { schema, examples } of Object.values(content ?? assert.fail())) {
    const { maxLength } = schema as { maxLength: number }
    assert.ok(maxLength > 2 ** 40, 'which the largest listing exceeds by far')
    for (const { value } of Object.values(examples)) validate(schema, value)
  }
})

test('the check detects a record that breaks the schema', () => {
  const schema = { $ref: '#/components/schemas/Rights' }
  const good = exampleRecord(rights)
  validate(schema, good)
  for (const bad of [
    { ...good, more: 1 },
    { ...good, id: null },
    { ...good, id: 1.5 },
    { ...good, id: 2 ** 53 },
    { ...good, name: 7 },
    { ...good, name: '' },
    { ...good, holders: null },
    { ...good, holders: [1] },
    { ...good, created_at: '2019-08-05T09:12:44Z' },
    { ...good, registration_date: '2019-08-02' },
    Object.fromEntries(Object.entries(good).slice(1)),
    [],
    null,
  ]) {
    assert.throws(() => validate(schema, bad), assert.AssertionError, JSON.stringify(bad))
  }
})
