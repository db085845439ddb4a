// What the documents tell of: every endpoint of the API, and the export of listings.

import type { Resource } from '../../resources/resource.ts'
import { type Endpoint, needsKey, type Operation } from '../endpoints/endpoint.ts'
import { describeExport, exportPath } from './export.ts'

/** A path and what it does. */
export interface Described {
  readonly path: string
  readonly operation: Operation
  /** The scope of the key, in words; undefined if any key will do, or none is needed. */
  readonly scope: string | undefined
  /** Whether it needs no key. */
  readonly isOpen: boolean
}

export function describedOf(
  endpoints: readonly Endpoint[],
  resources: readonly Resource[],
): readonly Described[] {
  const described = endpoints.flatMap((endpoint): Described[] => {
    const { path, scope, operation } = endpoint
    if (operation === undefined) return []
    const quoted = scope === undefined ? undefined : `\`${scope}\``
    return [{ path, operation, scope: quoted, isOpen: !needsKey(endpoint) }]
  })
  const exported = { path: exportPath, operation: describeExport(resources), isOpen: false }
  return [...described, { ...exported, scope: 'that of the listing' }]
}
