// The form of a resource, and the rules for its declaration.

import assert from 'node:assert/strict'
import type { Field } from './field.ts'
import type { ChangeFields, HistoryTrait, PeriodTrait, PictureTrait } from './traits.ts'

/** A kind of record. Plain data, from which everything that Dossier does with it derives. */
export interface Resource<Name extends string = string> {
  /** The name on the wire, of the last segment of the path and of the array; also of the table. */
  readonly name: string
  /** The name of one record, for documents. */
  readonly title: string
  readonly description: string
  /** In wire order; the first is `id`. */
  readonly fields: Readonly<Record<Name, Field>>
  /** Records are ordered by this field, then by `id`, both in this direction (contract 3.6). */
  readonly order: {
    readonly by: NoInfer<Name>
    readonly direction: 'ascending' | 'descending'
  }
  /** The field whose values `meta` counts (contract 3.7); without it there is no `meta`. */
  readonly metaOf?: NoInfer<Name>
  /** For a resource whose records describe changes: the field for each part of a change. */
  readonly changeFields?: ChangeFields<NoInfer<Name>>
  /** The period in which a record holds, if it has one: `current_on` (contract 10.3). */
  readonly period?: PeriodTrait<NoInfer<Name>>
  /** How a listing's changes become records of the resource that has `changeFields`. */
  readonly history?: HistoryTrait<NoInfer<Name>>
  /** How the explorer draws it; without a picture, it is only a table. */
  readonly picture?: PictureTrait<NoInfer<Name>>
}

/** The maximum number of types that `meta` counts in one company (contract 3.7). */
export const metaTypesMax = 1_000
/** The maximum length of a type, in bytes of UTF-8. */
export const metaTypeBytesMax = 256
/** The maximum length of a record as JSON, in bytes of UTF-8 (contract 3.10). */
export const recordBytesMax = 1_048_576

/** The columns in which a source's row names its company. */
export const companyColumns = ['company_id', 'company_jurisdiction', 'company_identifier'] as const

/** The columns in which a mapping may pass on a row's file and number. */
export const placeColumns = ['source_file', 'source_row'] as const

const reservedColumns = new Set<string>(['key', ...companyColumns, ...placeColumns])

/**
 * Declares a resource; the compiler checks the names of fields in it.
 *
 * @throws AssertionError if it breaks a rule that the rest of the code relies on:
 *   snake_case names, `id` first, `order` and `metaOf` naming fields that are never null, and parts
 *   of changes in fields of the right kind.
 */
export function defineResource<Name extends string>(resource: Resource<Name>): Resource {
  const declared: Resource = resource
  const { name, fields, order, metaOf, changeFields, period, picture } = declared
  for (const word of [name, ...Object.keys(fields)]) {
    assert.match(word, /^[a-z][a-z0-9_]*$/, `${name}: ${word} is not snake_case`)
    assert.ok(!reservedColumns.has(word), `${name}: ${word} is a column of imports`)
  }
  const [first] = Object.entries(fields)
  assert.ok(first?.[0] === 'id' && first[1].kind === 'id', `${name}: the first field must be id`)
  assert.ok(Object.keys(fields).length > 1, `${name}: a record needs more than its id`)
  const orderField = fields[order.by]
  assert.ok(
    order.by === 'id' || (orderField?.required && orderField.kind === 'timestamp'),
    `${name}: order.by must be id or a required timestamp`,
  )
  for (const [field, { kind, filter, personal, required }] of Object.entries(fields)) {
    const possible = kind === 'text' ? 'value' : kind === 'text_list' ? undefined : 'range'
    assert.ok(filter === undefined || filter === possible, `${name}: ${field} is no ${filter}`)
    const isList = kind === 'text_list'
    const isShowable = kind === 'text' || isList
    const canHide = personal === 'shown' ? isShowable : !required && !isList
    const isHidable = personal === undefined || canHide
    const isOwn = personal === undefined || (field !== order.by && field !== metaOf)
    assert.ok(isHidable && isOwn, `${name}: ${field} cannot be withheld`)
  }
  const metaField = metaOf === undefined ? undefined : fields[metaOf]
  assert.ok(
    metaOf === undefined || (metaField?.required && metaField.kind === 'text'),
    `${name}: metaOf must name a required text`,
  )
  for (const [part, field] of Object.entries(changeFields ?? {}) as [string, string][]) {
    const kind = part === 'date' ? 'timestamp' : 'text'
    assert.equal(fields[field]?.kind, kind, `${name}: changeFields.${part} must name a ${kind}`)
  }
  for (const field of period === undefined ? [] : [period.from, period.to])
    assert.equal(fields[field]?.filter, 'range', `${name}: ${field} must be a range`)
  const isDrawable =
    (picture?.kind !== 'timeline' || changeFields !== undefined) &&
    (picture?.kind !== 'periods' || period !== undefined)
  assert.ok(isDrawable, `${name}: its picture needs a trait that it lacks`)
  return declared
}
