// The schemas of records, derived from the declaration of their resource, and examples of them.

import {
  type Field,
  type FieldKind,
  isNullable,
  listLengthMax,
  textBytesMax,
} from '../../src/resources/field.ts'
import { metaTypeBytesMax, type Resource } from '../../src/resources/resource.ts'
import type { JsonSchema } from './schemas.ts'

/** The JSON Schema of one record on the wire: every field, in order, and no other. */
export function recordSchema(resource: Resource): JsonSchema {
  const entries = Object.entries(resource.fields)
  return {
    type: 'object',
    description: resource.description,
    properties: Object.fromEntries(
      entries.map(([name, field]) => [
        name,
        name === resource.metaOf
          ? { ...fieldSchema(field), maxLength: metaTypeBytesMax }
          : fieldSchema(field),
      ]),
    ),
    required: entries.map(([name]) => name),
    additionalProperties: false,
    examples: [exampleRecord(resource)],
  }
}

/** A record made from the examples of the resource's fields. */
export function exampleRecord(resource: Resource): Readonly<Record<string, unknown>> {
  const entries = Object.entries(resource.fields)
  return Object.fromEntries(entries.map(([name, field]) => [name, field.example]))
}

/** The JSON Schema of a field's value on the wire, including null if it may be. */
function fieldSchema(field: Field): JsonSchema {
  const schema = schemaOfKind[field.kind]
  const type = isNullable(field) ? [schema['type'], 'null'] : schema['type']
  return { ...schema, type, description: field.description, examples: [field.example] }
}

const timestampSchema = { type: 'string', format: 'date-time', minLength: 20, maxLength: 20 }
const timestampMsSchema = { type: 'string', format: 'date-time', minLength: 24, maxLength: 24 }
const textSchema = { type: 'string', minLength: 1, maxLength: textBytesMax }

const schemaOfKind: Readonly<Record<FieldKind, JsonSchema>> = {
  id: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  text: textSchema,
  integer: {
    type: 'integer',
    format: 'int64',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  timestamp: timestampSchema,
  timestamp_ms: timestampMsSchema,
  text_list: { type: 'array', items: textSchema, maxItems: listLengthMax },
}
