// Properties of paging, over random listings: contract 3.3, 3.6, 3.7 and Link.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { id, integer, text, textList, timestamp } from '../../src/resources/field.ts'
import { resources } from '../../src/resources/index.ts'
import { defineResource, type Resource } from '../../src/resources/resource.ts'
import { anyRecords } from '../support/arbitrary-record.ts'
import { type Answer, checkPage, linksOf, makeApp, memberOf, pathOf } from '../support/make-app.ts'
import { inOrder, type WireRecord } from '../support/make-record.ts'
import { runsOf, someOf } from '../support/store-at.ts'

const backwards = defineResource({
  name: 'filings',
  title: 'Filing',
  description: 'A resource that is served from its highest id down.',
  fields: { id: id('Id', 1), pages: integer('Pages', 2), form: text('Form', 'A') },
  order: { by: 'id', direction: 'descending' },
})
const oldestFirst = defineResource({
  // Longer than the space reserved for it before the records of a page.
  name: 'licences_to_bring_in_or_send_out',
  title: 'Licence',
  description: 'A resource that is served oldest first, and summed up.',
  fields: {
    id: id('Id', 1),
    granted: timestamp('Granted', '2020-01-01T00:00:00Z', { required: true }),
    kind: text('Kind', 'export', { required: true }),
    holders: textList('Holders', ['A']),
  },
  order: { by: 'granted', direction: 'ascending' },
  metaOf: 'kind',
})
const all = [...someOf(resources), backwards, oldestFirst]

const { ask, store } = await makeApp({ after }, { resources: all })

/** Ids are unique in the registry: each run has its own company and range of ids. */
let runs = 0

/** Makes a company with these records from up to three imports. */
async function makeCompany(
  resource: Resource,
  drawn: readonly { record: WireRecord; batch: number }[],
): Promise<{ company: number; records: WireRecord[] }> {
  runs += 1
  const company = runs
  const placed = drawn.map(({ record, batch }) => ({
    batch,
    record: { ...record, id: record.id + company * 1_000 },
  }))
  for (const number of [0, 1, 2]) {
    const records = placed.filter(({ batch }) => batch === number).map(({ record }) => record)
    if (records.length > 0) await store.load([{ resource, company, records }])
  }
  return { company, records: placed.map(({ record }) => record) }
}

/** Follows a link relation to its end; returns every record on the way. */
async function walk(
  resource: Resource,
  start: string | undefined,
  relation: 'next' | 'prev',
  check: (answer: Answer) => void,
): Promise<WireRecord[][]> {
  const pages: WireRecord[][] = []
  for (let url = start; url !== undefined;) {
    const answer = await ask(url)
    check(answer)
    pages.push(memberOf(answer, resource.name) as WireRecord[])
    assert.ok(pages.length <= 50, 'a walk ends')
    url = linksOf(answer)[relation]
  }
  return pages
}

const question = fc.record({
  page: fc.oneof(fc.integer({ min: 1, max: 45 }), fc.integer({ min: 1, max: 2 ** 40 })),
  limit: fc.oneof(fc.integer({ min: 1, max: 45 }), fc.integer({ min: 1, max: 1_000 })),
  isInBody: fc.boolean(),
})

for (const resource of all) {
  const { name } = resource

  test(`${name}: any page has its records, and links lead to each once, in order (3.3 to 3.9, A9)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRecords(resource),
        fc.integer({ min: 1, max: 45 }),
        fc.array(question, { minLength: 5, maxLength: 10 }),
        async (drawn, limit, questions) => {
          const { company, records } = await makeCompany(resource, drawn)
          const path = pathOf(resource, company)
          for (const { isInBody, ...asked } of questions) {
            const query = `?page=${asked.page}&limit=${asked.limit}`
            const answer = await (isInBody ? ask(path, { json: asked }) : ask(path + query))
            checkPage(answer, { resource, all: records, ...asked })
          }
          const inOneGo = inOrder(resource, records)
          let page = 0
          const first = await ask(`${path}?limit=${limit}`)
          const forth = await walk(resource, linksOf(first)['first'], 'next', (answer) => {
            page += 1
            checkPage(answer, { resource, all: records, page, limit })
          })
          assert.deepEqual(forth.flat(), inOneGo)
          assert.equal(forth.length, Math.ceil(records.length / limit))
          const back = await walk(resource, linksOf(first)['last'], 'prev', (answer) => {
            checkPage(answer, { resource, all: records, page, limit })
            page -= 1
          })
          assert.deepEqual(back.toReversed().flat(), inOneGo)
        },
      ),
      { numRuns: runsOf(9) },
    )
  })
}
