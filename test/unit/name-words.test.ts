// Which names have the words of a search (contract 8.3).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasWords, wordsOfQuery } from '../../src/store/companies/name-words.ts'

const texts = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '9', ' ') })

test('a short plain name has the words that it has among others', () => {
  fc.assert(
    fc.property(texts, texts, (name, query) => {
      const words = wordsOfQuery(query)
      // An accent makes the name be cut into words.
      assert.equal(hasWords(name, words), words.length === 0 || hasWords(`${name} é`, words))
    }),
    { numRuns: 1_000 },
  )
})
