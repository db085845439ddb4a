// A member that a JSON object has twice is found in a file as it comes, chunk by chunk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMemberScan } from '../../src/text/member-scan.ts'

/** What is found in a text that comes in chunks of so many bytes. */
function find(text: string, chunkBytes: number) {
  const scan = createMemberScan()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const doubled = scan(bytes.subarray(at, at + chunkBytes))
    if (doubled !== undefined) return doubled
  }
  return undefined
}

const doubled: readonly (readonly [text: string, row: number, name: string])[] = [
  ['{"a":1,"a":2}', 1, 'a'],
  ['{"a":1}\n{"a":1}\n{"a":{"b":1,"c":{},"b":2}}\n', 3, 'b'],
  ['[{"a":1},\n{"a":[{"x":1},{"x":2,"x":3}]}]', 2, 'x'],
  ['\ufeff[ {"a":"}"} , {"\\u00e9":1,"é":2} ]', 2, 'é'],
  ['{"a" : "\\"," , "b":"\\\\" , "a":1}', 1, 'a'],
]

for (const [text, row, name] of doubled) {
  test(`${text.trim()} has ${JSON.stringify(name)} twice, however it is cut`, () => {
    for (let bytes = 1; bytes <= text.length + 3; bytes += 1) {
      assert.deepEqual(find(text, bytes), { row, name })
    }
  })
}

test('two halves of pairs that are not the same are two names', () => {
  assert.equal(find('{"\\ud800":1,"\\ud801":2}', 100), undefined)
})

test('no other JSON is refused, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.json(), { maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      (rows, isArray, bytes) => {
        const text = isArray ? `[${rows.join(',')}]` : rows.join('\n')
        assert.equal(find(text, bytes), undefined)
      },
    ),
    { numRuns: 500 },
  )
})
