// What a reader outside the service may know of a resource, as plain data: the explorer's pages are
// made from it, so that no code in the browser names a resource or a field.

import type { FieldKind } from './field.ts'
import type { ChangeFields, PeriodTrait, PictureTrait } from './traits.ts'

export interface FieldDescription {
  readonly name: string
  /** Its name for readers, such as `Registration date`. */
  readonly label: string
  readonly kind: FieldKind
  readonly description: string
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

/** A resource as `describe` needs it; `resource.ts` has the whole. */
interface Declared extends Omit<ResourceDescription, 'fields'> {
  readonly fields: Readonly<
    Record<
      string,
      Pick<FieldDescription, 'kind' | 'description' | 'filter'> & { readonly sortable: boolean }
    >
  >
}

export function describe(resource: Declared): ResourceDescription {
  const { name, title, description, order, metaOf, changeFields, period, picture } = resource
  const fields = Object.entries(resource.fields)
  // The first text by which readers would look for a record.
  const [titleField] = fields.find(([, { sortable }]) => sortable) ?? fields[0] ?? []
  return {
    ...{ name, title, description, order, metaOf, changeFields, period, picture },
    fields: fields.map(([field, { kind, description: meaning, filter, sortable }]) => ({
      name: field,
      label: labelOf(field),
      kind,
      description: meaning,
      filter,
      isSortable: sortable || filter === 'range',
      isTitle: field === titleField,
    })),
  }
}

/** Words of names that are written otherwise for readers. */
const written: Readonly<Record<string, string>> = { attr: 'attribute', id: 'ID' }

function labelOf(name: string): string {
  const words = name.split('_').map((word) => written[word] ?? word)
  const label = words.join(' ')
  return label.charAt(0).toUpperCase() + label.slice(1)
}
