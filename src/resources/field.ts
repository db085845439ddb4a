// The vocabulary of fields, from which the declarations in this folder are made.

/** A field's form on the wire. `normalise.ts` has what an import accepts for each kind. */
export type FieldKind = 'id' | 'text' | 'integer' | 'timestamp' | 'timestamp_ms' | 'text_list'

/** One field of a resource: plain JSON, so that it can be copied and printed. */
export interface Field {
  readonly kind: FieldKind
  readonly description: string
  readonly example: unknown
  /** Never null on the wire (contract 3.2); a record without it is refused at import. */
  readonly required: boolean
  /** Whether listings can be filtered by its values, or by ranges of them (contract 10.1). */
  readonly filter: 'value' | 'range' | undefined
  /** Whether listings can be ordered by it although it has no range filter (contract 10.4). */
  readonly sortable: boolean
  /**
   * For a field that identifies a person: what replaces it where it is withheld, `[withheld]` or
   * null (contract 13).
   */
  readonly personal: 'shown' | 'null' | undefined
}

type FieldOptions = Partial<Pick<Field, 'required' | 'filter' | 'sortable' | 'personal'>>

const usual = { required: false, filter: undefined, sortable: false, personal: undefined }

type FieldMaker<Example> = (description: string, example: Example, options?: FieldOptions) => Field

function fieldMaker<Example>(kind: FieldKind, own: FieldOptions = {}): FieldMaker<Example> {
  return (description, example, options) => ({
    kind,
    description,
    example,
    ...usual,
    ...own,
    ...options,
  })
}

/** A positive integer up to 2^53-1 that identifies the record; every resource's first field. */
export const id = fieldMaker<number>('id', { required: true })

/** Unicode text of at most 64 KiB, served unchanged; null if blank. */
export const text = fieldMaker<string>('text')

/** An integer between -(2^53-1) and 2^53-1. */
export const integer = fieldMaker<number>('integer')

/** A timestamp as `YYYY-MM-DDTHH:MM:SSZ` (contract 3.8). */
export const timestamp = fieldMaker<string>('timestamp')

/** A timestamp as `YYYY-MM-DDTHH:MM:SS.mmmZ` (contract 3.8). */
export const timestampMs = fieldMaker<string>('timestamp_ms')

/** A list of texts; empty rather than null (contract 3.2). */
export const textList = fieldMaker<readonly string[]>('text_list')

/** The maximum length of a text, in bytes of UTF-8. */
export const textBytesMax = 65_536
/** The maximum number of elements in a list of texts. */
export const listLengthMax = 1_000

/** Whether the field may be `null` on the wire. */
export function isNullable(field: Field): boolean {
  return !field.required && field.kind !== 'text_list'
}
