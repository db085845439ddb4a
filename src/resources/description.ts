// What a reader outside the service may know of a resource, as plain data: the explorer's pages are
// made from it, so that no code in the browser names a resource or a field. There are only types,
// since the explorer, which runs in browsers, reads this file, too.

import type { FieldKind } from './field.ts'
import type { ChangeFields, PeriodTrait, PictureTrait } from './traits.ts'

export interface FieldDescription {
  readonly name: string
  /** Its name for readers, such as `Registration date`. */
  readonly label: string
  readonly kind: FieldKind
  readonly description: string
  /** Whether it may be null on the wire (contract 3.2). */
  readonly isNullable: boolean
  /** Whether listings are filtered by its values, or by ranges of them (contract 10.1). */
  readonly filter: 'value' | 'range' | undefined
  /** Whether listings can be ordered by it (contract 10.4). */
  readonly isSortable: boolean
  /** Whether it names the record for a reader. */
  readonly isTitle: boolean
}

export interface ResourceDescription {
  readonly name: string
  /** The name of one record. */
  readonly title: string
  readonly description: string
  /** In wire order. */
  readonly fields: readonly FieldDescription[]
  readonly order: { readonly by: string; readonly direction: 'ascending' | 'descending' }
  readonly metaOf?: string | undefined
  readonly changeFields?: ChangeFields | undefined
  readonly period?: PeriodTrait | undefined
  readonly picture?: PictureTrait | undefined
}
