// All that can be imported. To add a kind, define a value like these and list it at the end.

import type { Resource } from '../resources/resource.ts'
import {
  checkCompany,
  companyIdentity,
  companyNameColumns,
  companyRow,
} from './rows/check-company.ts'
import { checkRecord, recordColumns, recordIdentity, recordRow } from './rows/check-record.ts'
import type { ImportTarget } from './import-target.ts'
import { companyChanges, listingChanges } from './record-changes.ts'

/** Companies and their attributes. */
export const companies: ImportTarget = {
  name: 'companies',
  resource: undefined,
  sourceColumns: undefined,
  requiredColumns: companyNameColumns,
  check: checkCompany,
  identify: companyIdentity,
  rowOf: companyRow,
  history: { isOptional: false, changesOf: companyChanges },
}

/** The records of a resource. */
export function recordsOf(resource: Resource): ImportTarget {
  const { history } = resource
  return {
    name: resource.name,
    resource,
    sourceColumns: recordColumns(resource),
    requiredColumns: [],
    check: checkRecord(resource),
    identify: recordIdentity,
    rowOf: recordRow,
    history: history && { isOptional: true, changesOf: listingChanges(history) },
  }
}

export function importTargets(resources: readonly Resource[]): readonly ImportTarget[] {
  return [companies, ...resources.map(recordsOf)]
}
