// A validator for the part of JSON Schema (2020-12) that our OpenAPI document uses. It
// fails on unknown keywords, so that nothing passes unchecked.

import assert from 'node:assert/strict'

type Schema = Readonly<Record<string, unknown>>
type Check = (argument: unknown, value: unknown, schema: Schema, where: string) => void

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOfType: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: isObject,
}

const isOfFormat: Readonly<Record<string, (value: unknown) => boolean>> = {
  int32: (value) => typeof value !== 'number' || (Math.abs(value) < 2 ** 31 && value % 1 === 0),
  int64: (value) => typeof value !== 'number' || (Math.abs(value) < 2 ** 63 && value % 1 === 0),
  'date-time': (value) =>
    typeof value !== 'string' ||
    (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) && !Number.isNaN(Date.parse(value))),
}

/** The length of a text in JSON Schema: in code points. */
const lengthOf = (text: string) => Array.from(text).length

const noCheck: Check = () => undefined

/** Makes a check of values against schemas that may refer to parts of `document`. */
export function validatorFor(document: Schema) {
  const checks: Readonly<Record<string, Check>> = {
    $ref: (pointer, value, _schema, where) => validate(resolve(document, pointer), value, where),
    type: (types, value, _schema, where) => {
      const names = Array.isArray(types) ? types : [types]
      const isGood = names.some((name) => {
        const test = isOfType[String(name)]
        assert.ok(test, `${where}: type ${String(name)}`)
        return test(value)
      })
      assert.ok(isGood, `${where} is ${JSON.stringify(value)}, not ${names.join(' or ')}`)
    },
    enum: (allowed, value, _schema, where) =>
      assert.ok(Array.isArray(allowed) && allowed.includes(value), `${where}: not in the list`),
    pattern: (pattern, value, _schema, where) =>
      assert.ok(typeof value !== 'string' || new RegExp(String(pattern), 'u').test(value), where),
    const: (expected, value, _schema, where) => assert.deepEqual(value, expected, where),
    format: (name, value, _schema, where) => {
      const test = isOfFormat[String(name)]
      assert.ok(test, `${where}: format ${String(name)}`)
      assert.ok(test(value), `${where} is ${JSON.stringify(value)}, no ${String(name)}`)
    },
    minimum: (bound, value, _schema, where) =>
      assert.ok(typeof value !== 'number' || value >= Number(bound), `${where} is too small`),
    maximum: (bound, value, _schema, where) =>
      assert.ok(typeof value !== 'number' || value <= Number(bound), `${where} is too large`),
    minLength: (bound, value, _schema, where) =>
      assert.ok(typeof value !== 'string' || lengthOf(value) >= Number(bound), `${where}: short`),
    maxLength: (bound, value, _schema, where) =>
      assert.ok(typeof value !== 'string' || lengthOf(value) <= Number(bound), `${where}: long`),
    maxItems: (bound, value, _schema, where) =>
      assert.ok(!Array.isArray(value) || value.length <= Number(bound), `${where}: too many`),
    items: (schema, value, _schema, where) => {
      if (!Array.isArray(value)) return
      for (const [index, item] of value.entries()) validate(schema, item, `${where}/${index}`)
    },
    properties: (properties, value, _schema, where) => {
      assert.ok(isObject(properties))
      if (!isObject(value)) return
      for (const [name, schema] of Object.entries(properties)) {
        if (name in value) validate(schema, value[name], `${where}/${name}`)
      }
    },
    required: (names, value, _schema, where) => {
      assert.ok(Array.isArray(names))
      if (!isObject(value)) return
      for (const name of names) assert.ok(String(name) in value, `${where}/${String(name)} misses`)
    },
    additionalProperties: (allowed, value, schema, where) => {
      if (!isObject(value)) return
      const known = Object.keys(schema['properties'] ?? {})
      for (const name in value) {
        if (known.includes(name)) continue
        assert.notEqual(allowed, false, `${where}/${name} is unknown`)
        validate(allowed, value[name], `${where}/${name}`)
      }
    },
    maxProperties: (bound, value, _schema, where) =>
      assert.ok(!isObject(value) || Object.keys(value).length <= Number(bound), `${where}: many`),
    oneOf: (schemas, value, _schema, where) => {
      assert.ok(Array.isArray(schemas))
      const fitting = schemas.filter((schema) => isValid(schema, value))
      assert.equal(fitting.length, 1, `${where} is ${JSON.stringify(value)}, none or several`)
    },
    description: noCheck,
    examples: noCheck,
    default: noCheck,
  }

  /** @throws AssertionError that says which part of the value breaks the schema. */
  function validate(schema: unknown, value: unknown, where = ''): void {
    assert.ok(isObject(schema), `${where}: no schema`)
    for (const [keyword, argument] of Object.entries(schema)) {
      const check = checks[keyword]
      assert.ok(check, `${where}: the validator does not know the keyword ${keyword}`)
      check(argument, value, schema, where)
    }
  }

  function isValid(schema: unknown, value: unknown): boolean {
    try {
      validate(schema, value)
      return true
    } catch {
      return false
    }
  }

  return validate
}

/** The part of a document that a reference such as `#/components/schemas/Right` names. */
export function resolve(document: unknown, pointer: unknown): unknown {
  assert.ok(typeof pointer === 'string' && pointer.startsWith('#/'), String(pointer))
  let part = document
  for (const name of pointer.slice(2).split('/')) {
    assert.ok(isObject(part) && name in part, `${pointer} leads nowhere`)
    part = part[name]
  }
  return part
}

/** Every object within a value, itself included, with the names that lead to it. */
export function* objectsIn(value: unknown, where = '#'): Generator<[where: string, part: Schema]> {
  if (isObject(value)) yield [where, value]
  if (typeof value !== 'object' || value === null) return
  for (const [name, part] of Object.entries(value)) yield* objectsIn(part, `${where}/${name}`)
}
