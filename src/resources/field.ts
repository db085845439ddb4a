// The vocabulary of fields: what a declaration in this folder may say of a field.

/** How a field's value looks on the wire. `normalise.ts` says what an import accepts for each. */
export type FieldKind = 'id' | 'text' | 'integer' | 'timestamp' | 'timestamp_ms' | 'text_list'

/** One field of a resource, as data: plain JSON, so that it can be copied and printed. */
export interface Field {
  readonly kind: FieldKind
  readonly description: string
  readonly example: unknown
  /** Never null on the wire (contract 3.2); a record without it is refused at import. */
  readonly required: boolean
}

/** What may follow the description of a field. */
interface FieldOptions {
  readonly required?: boolean
}

type FieldMaker<Example> = (description: string, example: Example, options?: FieldOptions) => Field

function fieldMaker<Example>(kind: FieldKind): FieldMaker<Example> {
  return (description, example, options) => ({
    kind,
    description,
    example,
    required: options?.required ?? false,
  })
}

/** A positive integer up to 2^53-1 that names the record. Every resource begins with it. */
export function id(description: string, example: number): Field {
  return { kind: 'id', description, example, required: true }
}

/** Unicode text of at most 64 KiB, passed on as it was given; null when blank. */
export const text = fieldMaker<string>('text')

/** An integer between -(2^53-1) and 2^53-1. */
export const integer = fieldMaker<number>('integer')

/** A moment as `YYYY-MM-DDTHH:MM:SSZ` (contract 3.8). */
export const timestamp = fieldMaker<string>('timestamp')

/** A moment as `YYYY-MM-DDTHH:MM:SS.mmmZ` (contract 3.8). */
export const timestampMs = fieldMaker<string>('timestamp_ms')

/** A list of texts; empty rather than null (contract 3.2). */
export const textList = fieldMaker<readonly string[]>('text_list')

/** A JSON Schema (2020-12), as far as this project writes them. */
export type JsonSchema = Readonly<Record<string, unknown>>

const timestampSchema = { type: 'string', format: 'date-time', minLength: 20, maxLength: 20 }
const timestampMsSchema = { type: 'string', format: 'date-time', minLength: 24, maxLength: 24 }

/** The most that one text may hold, in bytes of UTF-8. */
export const textBytesMax = 65_536
/** The most elements that a list of texts may hold. */
export const listLengthMax = 1_000

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

/** Whether the wire may hold `null` for this field. */
export function isNullable(field: Field): boolean {
  return !field.required && field.kind !== 'text_list'
}

/** The JSON Schema of a field's value on the wire, null included where it may be. */
export function fieldSchema(field: Field): JsonSchema {
  const schema = schemaOfKind[field.kind]
  const type = isNullable(field) ? [schema['type'], 'null'] : schema['type']
  return { ...schema, type, description: field.description, examples: [field.example] }
}
