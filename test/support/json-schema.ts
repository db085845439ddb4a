// A validator for the part of JSON Schema (2020-12) that our OpenAPI document uses. It
// fails on unknown keywords, so that nothing passes unchecked.

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

type Schema = Readonly<Record<string, unknown>>
/** Whether a value is as a keyword with this argument requires; nested schemas throw. */
type Check = (argument: unknown, value: unknown, where: string, schema: Schema) => boolean

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
  binary: (value) => typeof value === 'string',
  'date-time': (value) =>
    typeof value !== 'string' ||
    (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) && !Number.isNaN(Date.parse(value))),
}

/** The length of a text in JSON Schema: in code points. */
const lengthOf = (text: string) => Array.from(text).length

/** Makes a check of values against schemas that may refer to parts of `document`. */
export function validatorFor(document: Schema) {
  const checks: Readonly<Record<string, Check>> = {
    $ref: (pointer, value, where) => validate(resolve(document, pointer), value, where),
    type: (types, value, where) =>
      [types].flat().some((name) => {
        const test = isOfType[String(name)]
        assert.ok(test, `${where}: type ${String(name)}`)
        return test(value)
      }),
    enum: (allowed, value) => Array.isArray(allowed) && allowed.includes(value),
    pattern: (pattern, value) =>
      typeof value !== 'string' || new RegExp(String(pattern), 'u').test(value),
    const: (expected, value) => isDeepStrictEqual(value, expected),
    format: (name, value, where) => {
      const test = isOfFormat[String(name)]
      assert.ok(test, `${where}: format ${String(name)}`)
      return test(value)
    },
    minimum: (bound, value) => typeof value !== 'number' || value >= Number(bound),
    maximum: (bound, value) => typeof value !== 'number' || value <= Number(bound),
    minLength: (bound, value) => typeof value !== 'string' || lengthOf(value) >= Number(bound),
    maxLength: (bound, value) => typeof value !== 'string' || lengthOf(value) <= Number(bound),
    maxItems: (bound, value) => !Array.isArray(value) || value.length <= Number(bound),
    maxProperties: (bound, value) => !isObject(value) || Object.keys(value).length <= Number(bound),
    required: (names, value) =>
      !isObject(value) || (Array.isArray(names) && names.every((name) => String(name) in value)),
    items: (schema, value, where) =>
      !Array.isArray(value) || value.every((item, n) => validate(schema, item, `${where}/${n}`)),
    properties: (properties, value, where) => {
      assert.ok(isObject(properties))
      if (!isObject(value)) return true
      return Object.entries(properties).every(
        ([name, schema]) => !(name in value) || validate(schema, value[name], `${where}/${name}`),
      )
    },
    additionalProperties: (allowed, value, where, schema) => {
      if (!isObject(value)) return true
      const known = Object.keys(schema['properties'] ?? {})
      const more = Object.entries(value).filter(([name]) => !known.includes(name))
      if (allowed === false) return more.length === 0
      return more.every(([name, one]) => validate(allowed, one, `${where}/${name}`))
    },
    oneOf: (schemas, value) =>
      Array.isArray(schemas) && schemas.filter((schema) => isValid(schema, value)).length === 1,
    description: () => true,
    examples: () => true,
    default: () => true,
  }

  /** @throws AssertionError that says which part of the value breaks the schema. */
  function validate(schema: unknown, value: unknown, where = ''): boolean {
    assert.ok(isObject(schema), `${where}: no schema`)
    for (const [keyword, argument] of Object.entries(schema)) {
      const check = checks[keyword]
      assert.ok(check, `${where}: the validator does not know the keyword ${keyword}`)
      if (check(argument, value, where, schema)) continue
      const limit = `${keyword} ${JSON.stringify(argument)}`
      assert.fail(`${where} is ${JSON.stringify(value)}, against ${limit}`)
    }
    return true
  }

  function isValid(schema: unknown, value: unknown): boolean {
    try {
      return validate(schema, value)
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
