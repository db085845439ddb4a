// The table of all endpoints.

import type { Resource } from '../../resources/resource.ts'
import { changes } from './changes.ts'
import { companies } from './companies.ts'
import { company } from './company.ts'
import type { Endpoint } from './endpoint.ts'
import { documents } from './documents.ts'
import { explorer } from './explorer.ts'
import { exportFile, exportList, exportManifest } from './exports.ts'
import { live, ready } from './health.ts'
import { key } from './key.ts'
import { listing } from './listing.ts'
import { versions } from './versions.ts'

/** The endpoints of the API, by the names under which `scripts/openapi/` describes them. */
export function apiOf(resources: readonly Resource[]) {
  return {
    companies: [companies],
    company: [company],
    listing: resources.map(listing),
    versions: [versions],
    changes: [changes()],
    exportList: [exportList],
    exportManifest: [exportManifest],
    exportFile: [exportFile],
    key: [key],
    live: [live],
    ready: [ready],
  } as const satisfies Readonly<Record<string, readonly Endpoint[]>>
}

/** Every endpoint of a service with these resources. */
export function endpointsOf(
  resources: readonly Resource[],
  { isExplorerOn = true }: { readonly isExplorerOn?: boolean } = {},
): readonly Endpoint[] {
  return [
    ...Object.values(apiOf(resources)).flat(),
    ...documents(isExplorerOn),
    ...(isExplorerOn ? explorer(resources) : []),
  ]
}
