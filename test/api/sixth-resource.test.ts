// A resource is declared once, as data: everything else derives from the declaration. Its pages are
// in paging.properties.test.ts.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createOpenApi } from '../../scripts/openapi/document.ts'
import { id, integer, text, textList, timestamp, timestampMs } from '../../src/resources/field.ts'
import { resources } from '../../src/resources/index.ts'
import { defineResource } from '../../src/resources/resource.ts'
import { type Document, readAnnouncement } from '../support/announcement.ts'
import { makeFolder } from '../support/import-rows.ts'
import { makeApp, pathOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import { withReader } from '../support/open-reader.ts'
import { aboveStores } from '../support/store-at.ts'
import { wholeListing } from '../../src/store/selection.ts'

const above = { skip: aboveStores }

const sixth = defineResource({
  name: 'filings',
  title: 'Filing',
  description: 'A document that the company has filed.',
  fields: {
    id: id('Record identifier', 12),
    form: text('Name of the form', 'AA01'),
    pages: integer('Number of pages', 4),
    signed_by: textList('Names of those who signed', ['Jane Doe']),
    filed_at: timestampMs('When it was filed', '2024-02-05T08:30:00.000Z'),
  },
  order: { by: 'id', direction: 'ascending' },
})

const path = pathOf(sixth, 1)

test('another resource has a scope, and answers as the OpenAPI document says', above, async (t) => {
  const made = await makeApp(t, {
    resources: [...resources, sixth],
    records: [{ resource: sixth, company: 1, records: makeRecords(sixth, 2) }],
  })
  for (const [scope, status] of [
    [sixth.name, 200],
    ['rights', 403],
  ] as const) {
    const key = await made.store.issueKey({ name: scope, scopes: [scope] })
    assert.equal((await made.ask(path, { key })).status, status)
  }
  assert.equal((await made.ask(path, { authorization: null })).status, 403)
  const document = createOpenApi([...resources, sixth]) as unknown as Document
  const { get } = document.paths[pathOf(sixth, '{company_id}')] ?? assert.fail()
  assert.equal(get.operationId, `list_${sixth.name}`)
  const { checkAnnounced, responsesOf, validate } = readAnnouncement(document)
  checkAnnounced(get, await made.ask(path))
  const [[, { content }] = assert.fail()] = responsesOf(get)
  const { schema, examples } = content?.['application/json'] ?? assert.fail()
  for (const { value } of Object.values(examples)) validate(schema, value)
  for (const field of Object.keys(sixth.fields)) {
    assert.ok(JSON.stringify(document).includes(`"${field}"`))
  }
})

/** A declaration as an engineer writes it. */
const declared = `import { id, text } from './field.ts'
import { defineResource } from './resource.ts'

export const filings = defineResource({
  name: 'filings',
  title: 'Filing',
  description: 'A document that the company has filed.',
  fields: { id: id('Record identifier', 12), form: text('Name of the form', 'AA01') },
  order: { by: 'id', direction: 'ascending' },
})
`

test('a file, a line and `npm run generate` document another resource', above, (t) => {
  const root = join(import.meta.dirname, '../..')
  const copy = makeFolder(t)
  for (const name of ['docs', 'mappings', 'package.json', 'scripts', 'src']) {
    cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const read = (name: string) => readFileSync(join(copy, name), 'utf8')

  const list = 'src/resources/index.ts'
  const added = read(list)
    .replace(/^/, "import { filings } from './filings.ts'\n")
    .replace(/(readonly Resource\[\] = \[.*)\]/, '$1, filings]')
  writeFileSync(join(copy, list), added)
  writeFileSync(join(copy, 'src/resources/filings.ts'), declared)
  assert.equal(spawnSync('npm', ['run', 'generate'], { cwd: copy }).status, 0)
  const { paths } = JSON.parse(read('docs/openapi.json')) as Document
  assert.equal(paths[path.replace('/1/', '/{company_id}/')]?.get.operationId, 'list_filings')
  const guides = ['docs/client.md', 'docs/guide.html', 'docs/llms.txt']
  for (const name of guides) assert.match(read(name), /filings/)
})

test('a store from before the sixth resource has empty listings of it', async (t) => {
  const { store } = await makeApp(t, { companies: [1] })
  const page = await withReader(store.db, async (reader) =>
    reader.readPage(wholeListing(sixth, 1), 0, 100),
  )
  assert.deepEqual(page !== undefined && 'total' in page && [page.total, page.records], [0, []])
})

const fields = { id: id('Id', 1), name: text('Name', 'x'), day: timestamp('Day', '2020-01-01') }
const good = {
  name: 'things',
  title: 'Thing',
  description: 'A thing.',
  fields,
  order: { by: 'id', direction: 'ascending' },
} as const

for (const [what, declaration] of [
  ['a name that is not snake_case', { ...good, name: 'Things' }],
  ['a name that would be SQL', { ...good, name: 'x; drop table rights' }],
  ['a field that is a column of imports', { ...good, fields: { ...fields, key: fields.name } }],
  ['no id', { ...good, fields: { name: fields.name } }],
  ['an id that is not first', { ...good, fields: { name: fields.name, id: fields.id } }],
  ['nothing but an id', { ...good, fields: { id: fields.id } }],
  ['an order by a nullable field', { ...good, order: { by: 'day', direction: 'ascending' } }],
  ['an order by a text', { ...good, order: { by: 'name', direction: 'ascending' } }],
  ['meta of a nullable field', { ...good, metaOf: 'name' }],
] as const) {
  test(`a declaration with ${what} is refused`, () => {
    defineResource(good)
    assert.throws(() => defineResource(declaration as never), { name: 'AssertionError' })
  })
}
