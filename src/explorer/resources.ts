// The resources of this service, which the page carries as data.

import type { FieldDescription, ResourceDescription } from '../resources/description.ts'

export type { FieldDescription, ResourceDescription }

const element = document.getElementById('resources')

export const resources = JSON.parse(element?.textContent ?? '[]') as readonly ResourceDescription[]

export function resourceNamed(name: string | undefined): ResourceDescription | undefined {
  return resources.find((one) => one.name === name)
}

export const changesResource = resources.find(({ changeFields }) => changeFields !== undefined)

/** A field of the resource; undefined if there is none of that name. */
export function fieldNamed(
  { fields }: ResourceDescription,
  name: string | undefined,
): FieldDescription | undefined {
  return fields.find((one) => one.name === name)
}

export function fieldLabel(resource: ResourceDescription, name: string): string {
  return fieldNamed(resource, name)?.label ?? name
}

/** A record as received: by field. */
export type Row = Readonly<Record<string, unknown>>

/** A member of a record; `constructor`, for instance, which every object inherits, is none. */
export function memberOf(row: Row | undefined, name: string): unknown {
  return row !== undefined && Object.hasOwn(row, name) ? row[name] : undefined
}
