// The vocabulary in which answers are described: JSON schemas with examples, from which the example
// of a whole answer is made.

import { parameters } from '../../src/http/requests/listing-request.ts'
import { nameBytesMax } from '../../src/import/rows/normalise.ts'
import type { Resource } from '../../src/resources/resource.ts'

/** A JSON Schema (2020-12), to the extent that this project uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

export type Schemas = Readonly<Record<string, JsonSchema>>

/** The schema of a company's id. */
export const companySchema = {
  type: 'integer',
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
}
/** The schema of the text that names a company: its id, or its register number. */
export const companyText = { type: 'string', maxLength: 2 * nameBytesMax + ':'.length }
/** The pattern of a register number: the register, a colon, the company's number in it. */
export const registerNumberPattern = '[^:]+:.+'
/** The schema of a count. */
export const countSchema = { ...companySchema, minimum: 0 }
/** The member `ok` of what succeeded. */
export const okSchema = { type: 'boolean', const: true }
export const shortText = { type: 'string', maxLength: 1_024 }
/** A moment in UTC, with milliseconds. */
export const momentSchema = { type: 'string', format: 'date-time', maxLength: 24 }
export const nullableText = { ...shortText, type: ['string', 'null'] }

/** A member of an object: a schema, what it means, and an example. */
export function member(schema: JsonSchema, description: string, example?: unknown): JsonSchema {
  return { ...schema, description, ...(example === undefined ? {} : { examples: [example] }) }
}

/** The schema of an object whose members are all required. */
export function objectOf(description: string, properties: Schemas): JsonSchema {
  const required = Object.keys(properties)
  return { type: 'object', description, properties, required, additionalProperties: false }
}

/** The same schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { ...schema, type: [schema['type'], 'null'] }
}

/** The schema of a list of what a component describes. */
export function listOf(name: string, maxItems: number = parameters.limit.maximum): JsonSchema {
  return { type: 'array', maxItems, items: schemaRef(name) }
}

/** The schemas of what identifies a company. */
export const identitySchemas = {
  id: member(companySchema, 'Id of the company', 1_000_000_000_042),
  jurisdiction: member(nullableText, 'Jurisdiction of its register', 'GB'),
  identifier: member(nullableText, 'Its number in the register', '09876543'),
  name: member(
    { ...nullableText, maxLength: 65_536 },
    'Its name, from the last source',
    'Northwind Trading Ltd',
  ),
}

/** The schemas of a company, without its listings. */
export const companySchemas = {
  ...identitySchemas,
  // More sources than any company has.
  sources: member(
    listOf('SourceStatement', 10_000),
    'What each source says about it, in the order of their names',
  ),
}

/** The schemas of the counters of a page. @param what what is counted, in the plural. */
export function counterSchemas(what: string): Schemas {
  return {
    total: member(countSchema, `Number of ${what}`, 1),
    pagination_total: member(countSchema, 'Number of those that the request selects', 1),
    pagination_offset: member(
      // That of the last page that can be requested, with the largest limit.
      { ...countSchema, maximum: (parameters.page.maximum - 1) * parameters.limit.maximum },
      'Number of those before this page',
      0,
    ),
  }
}

/** A parameter in a query. */
export function query(name: string, rest: JsonSchema): JsonSchema {
  return { name, in: 'query', ...rest }
}

/** The name of the schema of a resource's records. */
export function schemaName({ name }: Resource): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A reference to a component. */
export function ref(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` }
}

/** A reference to a schema. */
export function schemaRef(name: string): JsonSchema {
  return ref('schemas', name)
}

/**
 * An example of what a schema describes, made of the examples of its parts; null for a part that
 * may be, and undefined if another part has none.
 *
 * @param schemas those that it refers to.
 */
export function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  const { $ref, examples, enum: words, properties, items, type } = schema
  const target = schemas[String($ref).split('/').at(-1) ?? '']
  if (target !== undefined) return exampleOf(target, schemas)
  if (Array.isArray(examples)) return examples[0]
  if ('const' in schema) return schema['const']
  if (Array.isArray(words)) return words[0]
  if (items !== undefined) {
    const item = exampleOf(items as JsonSchema, schemas)
    return item === undefined ? undefined : [item]
  }
  if (properties === undefined) return [type].flat().includes('null') ? null : undefined
  const members = Object.entries(properties as Schemas)
  const values = members.map(([name, one]) => [name, exampleOf(one, schemas)] as const)
  const isWhole = values.every(([, value]) => value !== undefined)
  return isWhole ? Object.fromEntries(values) : undefined
}
