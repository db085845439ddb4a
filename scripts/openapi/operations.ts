// What the documents tell of: each endpoint of the API, and the listings as text.

import { type Endpoint, needsKey } from '../../src/http/endpoints/endpoint.ts'
import { apiOf } from '../../src/http/endpoints/table.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { describeChanges } from './endpoints/changes.ts'
import { describeCompanies } from './endpoints/companies.ts'
import { describeCompany } from './endpoints/company.ts'
import { describeExportFile, describeExports, describeManifest } from './endpoints/exports.ts'
import { describeHealth } from './endpoints/health.ts'
import { describeKey } from './endpoints/key.ts'
import { describeListingAsText, listingAsTextPath } from './endpoints/listing-as-text.ts'
import { describeListing } from './endpoints/listing.ts'
import { describeVersions } from './endpoints/versions.ts'
import type { Operation } from './operation.ts'

/** An endpoint of the API, as the documents tell of it. */
export interface Described {
  readonly path: string
  readonly operation: Operation
  /** The scope of the key, in words; undefined if any key will do, or none is needed. */
  readonly scope: string | undefined
  /** Whether it needs no key. */
  readonly isOpen: boolean
}

type Api = ReturnType<typeof apiOf>

/** The descriptions of the table's endpoints: without one for each, this does not compile. */
function operationsOf(
  resources: readonly Resource[],
): Readonly<Record<keyof Api, readonly Operation[]>> {
  return {
    companies: [describeCompanies()],
    company: [describeCompany(resources)],
    listing: resources.map(describeListing),
    versions: [describeVersions()],
    changes: [describeChanges(resources)],
    exportList: [describeExports()],
    exportManifest: [describeManifest()],
    exportFile: [describeExportFile()],
    key: [describeKey(resources)],
    live: [describeHealth('live', 'The process is running')],
    ready: [describeHealth('ready', 'The service can answer requests')],
  }
}

/** Every endpoint of the API, in the order of the table, and the listings as text. */
export function describedOf(resources: readonly Resource[]): readonly Described[] {
  const api: Readonly<Record<keyof Api, readonly Endpoint[]>> = apiOf(resources)
  const operations = operationsOf(resources)
  const names = Object.keys(api) as (keyof Api)[]
  const described = names.flatMap((name) =>
    api[name].map((endpoint, n): Described => {
      const { path, scope } = endpoint
      const operation = operations[name][n]
      if (operation === undefined) throw new Error(`${path} has no description`)
      const quoted = scope === undefined ? undefined : `\`${scope}\``
      return { path, operation, scope: quoted, isOpen: !needsKey(endpoint) }
    }),
  )
  const asText = { path: listingAsTextPath, operation: describeListingAsText(resources) }
  return [...described, { ...asText, scope: 'that of the listing', isOpen: false }]
}
