// Records as CSV and as NDJSON, from their joined JSON texts (contract 11.2).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { recordWriter } from '../../src/http/requests/formats.ts'
import { resources } from '../../src/resources/index.ts'
import { anyRecord } from '../support/arbitrary-record.ts'
import { parseCsv } from '../support/parse-csv.ts'

/** A value as a cell: null is empty, and a list is JSON. */
function cellOf(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'string' || typeof value === 'number'
    ? String(value)
    : JSON.stringify(value)
}

for (const resource of resources) {
  /** Texts as pieces have them: several records joined by commas in each. */
  const pieces = fc.array(fc.array(anyRecord(resource), { minLength: 1, maxLength: 4 }), {
    maxLength: 4,
  })
  const textsOf = (groups: readonly (readonly object[])[]) =>
    groups.map((records) => Buffer.from(records.map((record) => JSON.stringify(record)).join(',')))

  test(`any ${resource.name} as CSV have their values, by a reader of RFC 4180`, () => {
    fc.assert(
      fc.property(pieces, (groups) => {
        const { header, bytes } = recordWriter('csv', resource)
        const rows = parseCsv(header + bytes(textsOf(groups)).toString())
        assert.deepEqual(rows, [
          Object.keys(resource.fields),
          ...groups.flat().map((record) => Object.values(record).map(cellOf)),
        ])
      }),
      { numRuns: 500 },
    )
  })

  test(`any ${resource.name} as NDJSON are their own texts, one a line`, () => {
    fc.assert(
      fc.property(pieces, (groups) => {
        const { bytes } = recordWriter('ndjson', resource)
        const lines = groups.flat().map((record) => `${JSON.stringify(record)}\n`)
        assert.equal(bytes(textsOf(groups)).toString(), lines.join(''))
      }),
      { numRuns: 500 },
    )
  })
}
