// Did you mean …?

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearest } from '../../src/text/nearest.ts'
import { resources } from '../../src/resources/index.ts'
import { processorMs } from '../support/processor-time.ts'

const words = ['import', 'keys', 'serve', 'demo', 'company_id', 'company_identifier']

const mistyped: Readonly<Record<string, string | undefined>> = {
  import: 'import',
  improt: 'import',
  IMPORT: 'import',
  imports: 'import',
  key: 'keys',
  sevre: 'serve',
  compny_id: 'company_id',
  companyId: 'company_id',
  imp: 'import',
  comp: undefined,
  demi: 'demo',
  dew: undefined,
  dens: undefined,
  company_identifer: 'company_identifier',
  xylophone: undefined,
  '👍👍👍👍': undefined,
}

test('for a mistyped word, the nearest known one is suggested, the first of equally near ones', () => {
  for (const [word, meant] of Object.entries(mistyped)) {
    assert.equal(nearest(word, words), meant, word)
  }
  assert.equal(nearest('salary_fo', ['salary_to', 'salary_fx']), 'salary_to')
  assert.equal(nearest('import', []), undefined)
})

const fields = [...new Set(resources.flatMap((resource) => Object.keys(resource.fields)))]

test('any field with one letter wrong, missing, doubled or swapped is still found', () => {
  const long = fields.filter((field) => field.length >= 6)
  fc.assert(
    fc.property(fc.constantFrom(...long), fc.nat(), fc.nat({ max: 3 }), (field, place, fault) => {
      const at = place % (field.length - 1)
      const [one = '', two = ''] = [field[at], field[at + 1]]
      const wrong = [`~${two}`, two, `${one}${one}${two}`, `${two}${one}`][fault] ?? ''
      const typed = field.slice(0, at) + wrong + field.slice(at + 2)
      assert.equal(nearest(typed, [field]), field)
    }),
  )
})

test('a word of a megabyte is handled quickly', async () => {
  const ms = await processorMs(() => nearest('x'.repeat(1 << 20), fields))
  assert.ok(ms < 500, `${ms} ms`)
})
