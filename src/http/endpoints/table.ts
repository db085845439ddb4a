// The table of all endpoints.

import type { Resource } from '../../resources/resource.ts'
import { changes } from './changes.ts'
import { companies } from './companies.ts'
import { company } from './company.ts'
import type { Endpoint } from './endpoint.ts'
import { documents } from './documents.ts'
import { explorer } from './explorer.ts'
import { exportEndpoints } from './exports.ts'
import { healthChecks } from './health.ts'
import { key } from './key.ts'
import { listing } from './listing.ts'
import { versions } from './versions.ts'

/** Every endpoint of a service with these resources. */
export function endpointsOf(
  resources: readonly Resource[],
  { isExplorerOn = true }: { readonly isExplorerOn?: boolean } = {},
): readonly Endpoint[] {
  const ofApi = [
    companies,
    company(resources),
    ...resources.map(listing),
    versions,
    changes(resources),
    ...exportEndpoints,
    key(resources),
    ...healthChecks,
  ]
  return [
    ...ofApi,
    ...documents(ofApi, resources, isExplorerOn),
    ...(isExplorerOn ? explorer(resources) : []),
  ]
}
