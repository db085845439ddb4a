// Random valid records of any resource, for properties.

import fc from 'fast-check'
import type { Field, FieldKind } from '../../src/resources/field.ts'
import type { Resource } from '../../src/resources/resource.ts'
import type { WireRecord } from './make-record.ts'

const isText = (text: string) => /\S/.test(text) && !text.includes('\0')

/** Any valid text, unusual ones included. */
const anyText = fc.oneof(
  fc.constantFrom('a', 'A', 'é', "z'x", '\uFFFD', '\u{1F600}', '"', '\\', '\u2028x', ' x '),
  fc.constantFrom('e\u0301', '\u202Ex\u200B', '\uFEFFx', '\uFFFF\u{10FFFF}', '<b>&amp;'),
  fc.constantFrom('\t \n \u0007x \u007F'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter(isText),
)

// Few values, so that many collide.
const anyDay = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 1 }))
  .map(([day, second]) => `2020-02-0${day}T23:59:0${second}`)

const valueOfKind: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  id: fc.integer({ min: 1, max: 300 }),
  text: anyText,
  integer: fc.oneof(fc.constantFrom(0, -5, Number.MAX_SAFE_INTEGER), fc.maxSafeInteger()),
  timestamp: anyDay.map((moment) => `${moment}Z`),
  timestamp_ms: anyDay.map((moment) => `${moment}.007Z`),
  text_list: fc.array(anyText, { maxLength: 3 }),
}

function anyValue({ kind, required }: Field): fc.Arbitrary<unknown> {
  const value = valueOfKind[kind]
  return required || kind === 'text_list' ? value : fc.option(value, { freq: 8 })
}

/** A valid record; its id is one of 1 to 300. */
export function anyRecord(resource: Resource): fc.Arbitrary<WireRecord> {
  const fields = Object.entries(resource.fields).map(([name, field]) => [name, anyValue(field)])
  return fc
    .record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>)
    .map((record) => ({ ...record, id: Number(record['id']) }))
}

/** Records with distinct ids, each with the import (0 to 2) that brings it. */
export function anyRecords(
  resource: Resource,
): fc.Arbitrary<{ record: WireRecord; batch: number }[]> {
  const one = fc.record({ record: anyRecord(resource), batch: fc.integer({ min: 0, max: 2 }) })
  return fc.uniqueArray(one, { minLength: 1, maxLength: 40, selector: ({ record }) => record.id })
}
