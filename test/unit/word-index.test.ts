// The index of the words of names, as names change.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createWordIndex,
  type NameChange,
  readChunks,
} from '../../src/store/companies/word-index.ts'
import { wordsOfName } from '../../src/store/name-words.ts'
import { idsOf } from '../../src/store/sql/postings.ts'
import { registryOf } from '../../src/store/sqlite/database.ts'
import { createTables } from '../../src/store/sqlite/schema.ts'

test('whatever names change to, and back, the index has the words of the last ones (8.3)', async () => {
  const names = ['North Wind', 'north', 'Wind Ltd', 'é', ''] as const
  const words = [...new Set(names.flatMap(wordsOfName))]
  const change = fc.record({ id: fc.nat(3), name: fc.constantFrom(...names, undefined) })
  const changes = fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(changes, async (imports) => {
      using file = new DatabaseSync(':memory:')
      file.exec(createTables('test'))
      const db = registryOf(file)
      const last = new Map<number, string>()
      for (const given of imports) {
        const index = await createWordIndex(db)
        for (const { id, name } of given) {
          const one: NameChange = { id, former: last.get(id), name }
          if (name === undefined) last.delete(id)
          else last.set(id, name)
          await index.change([one])
        }
        await index.finish()
        const kept = await readChunks(db, words)
        for (const word of words) {
          const having = [...last].filter(([, name]) => wordsOfName(name).includes(word))
          const ids = having.map(([id]) => id).sort((a, b) => a - b)
          assert.deepEqual(idsOf(kept.get(word) ?? []), ids, word)
        }
      }
    }),
    { numRuns: 100 },
  )
})
