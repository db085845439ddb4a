// A request is one value with one canonical form, from which cache key, tag and links derive.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  canonicalUrl,
  type ListingRequest,
  noLimit,
  parameters,
  parseListingRequest,
} from '../../src/http/requests/listing-request.ts'
import { formats, mediaTypes } from '../../src/http/requests/formats.ts'
import { entityTag } from '../../src/http/answers/page.ts'
import { resources } from '../../src/resources/index.ts'

const head = {
  ...{ total: 1, version: 7, lineage: '3f9a1c0b7d2e', changedAt: 0 },
  ...{ dataVersion: 9, latestVersion: 9 },
}
const tagOf = (request: ListingRequest) => entityTag(head, canonicalUrl(request))

/** A request that names its company by id. */
function withId(parsed: ReturnType<typeof parseListingRequest>): ListingRequest {
  const { company, version, ...rest } = parsed
  assert.ok(typeof company === 'number' && typeof version !== 'object')
  return { companyId: company, version, ...rest }
}

/** Few values of each, so that two requests often differ in only one. */
const paged: fc.Arbitrary<ListingRequest> = fc.record(
  {
    resource: fc.constantFrom(...resources),
    companyId: fc.oneof(fc.constantFrom(1, 11, 111), fc.integer({ min: 1 })),
    page: fc.oneof(fc.constantFrom(1, 2, 11), fc.integer({ min: 1 })),
    limit: fc.constantFrom(1, 10, 11, 100, 1_000),
    format: fc.constantFrom(...formats),
    version: fc.constant(undefined),
    sort: fc.constant(undefined),
    filters: fc.constant([]),
    query: fc.constant(''),
  },
  { noNullPrototype: true },
)

/** All records at once are one page, of another format than JSON (contract 11.3). */
const request = fc
  .tuple(paged, fc.boolean())
  .map(([one, isWhole]): ListingRequest =>
    isWhole && one.format !== 'json' ? { ...one, page: 1, limit: noLimit } : one,
  )

type How = Readonly<Record<keyof typeof parameters | 'format', string>>

/** The position and form of a parameter; absent only if it has its default. */
const spelling = fc.constantFrom('query', 'padded', 'text', 'number', 'both', 'absent')

function spell(asked: ListingRequest, how: How) {
  const query: Record<string, unknown> = {}
  const body: Record<string, unknown> = {}
  for (const name of Object.keys(parameters) as (keyof typeof parameters)[]) {
    const value = asked[name] === noLimit ? 'all' : asked[name]
    const isDefault = value === parameters[name].default
    const way = how[name] === 'absent' && !isDefault ? 'query' : how[name]
    if (way === 'query' || way === 'both') query[name] = String(value)
    if (way === 'padded') query[name] = typeof value === 'number' ? `0${value}` : value
    if (way === 'text') body[name] = String(value)
    if (way === 'number' || way === 'both') body[name] = value
  }
  if (how.format === 'query') query['format'] = asked.format
  else if (how.format === 'body') body['format'] = asked.format
  const accept = how.format === 'accept' ? mediaTypes[asked.format] : 'text/html, */*'
  const members = Object.keys(body).length === 0 ? undefined : body
  const given = { query, body: members, accept }
  return withId(parseListingRequest(asked.resource, String(asked.companyId), given))
}

test('all spellings of a request have the same canonical form and tag', () => {
  const format = fc.constantFrom('query', 'body', 'accept')
  const how = fc.record({ page: spelling, limit: spelling, format })
  fc.assert(
    fc.property(request, how, how, (asked, one, other) => {
      const [first, second] = [spell(asked, one), spell(asked, other)]
      assert.deepEqual(first, asked)
      assert.equal(canonicalUrl(first), canonicalUrl(second))
      assert.equal(tagOf(first), tagOf(second))
    }),
    { numRuns: 500 },
  )
})

test('different requests share neither canonical form nor tag', () => {
  fc.assert(
    fc.property(
      request,
      request,
      fc.constantFrom('resource', 'companyId', 'page', 'limit', 'format'),
      alone,
    ),
    { numRuns: 500 },
  )
  function alone(one: ListingRequest, other: ListingRequest, name: keyof ListingRequest) {
    // Different in only one member, which is the hardest case.
    const near: ListingRequest = { ...one, [name]: other[name] }
    fc.pre(one[name] !== other[name])
    assert.notEqual(canonicalUrl(one), canonicalUrl(near))
    assert.notEqual(tagOf(one), tagOf(near))
  }
})
