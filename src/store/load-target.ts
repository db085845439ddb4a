// What an import loads, as a store sees it. (The checks that its rows pass before are in
// src/import/import-target.ts.)

import { companyColumns, type Resource } from '../resources/resource.ts'

export interface LoadTarget {
  /** Its name on the command line and in the log of imports. */
  readonly name: string
  /** The resource whose records are loaded; undefined for companies with their attributes. */
  readonly resource: Resource | undefined
  /** The source's columns that name a row's company, for messages. */
  readonly columns: { readonly companyId: string; readonly companyIdentifier: string }
  /** The field named in messages about contradictory rows; null for the row's `id` or `key`. */
  readonly contradictionField: string | null
  /** The field whose values `meta` counts (contract 3.7); undefined if there is no `meta`. */
  readonly metaOf: string | undefined
  /** Whether rows may state their own day (`asOf`). */
  readonly hasRowDays: boolean
  /** Whether an unknown company that a row names only by id is created. */
  readonly isMadeById: boolean
}

/** Companies, with the attributes from their sources. */
export const companiesTarget: LoadTarget = {
  name: 'companies',
  resource: undefined,
  columns: { companyId: 'id', companyIdentifier: 'identifier' },
  contradictionField: 'identifier',
  metaOf: undefined,
  hasRowDays: true,
  isMadeById: false,
}

/** The records of one resource. */
export function recordsTarget(resource: Resource): LoadTarget {
  const [companyId, , companyIdentifier] = companyColumns
  return {
    name: resource.name,
    resource,
    columns: { companyId, companyIdentifier },
    contradictionField: null,
    metaOf: resource.metaOf,
    hasRowDays: false,
    isMadeById: true,
  }
}
