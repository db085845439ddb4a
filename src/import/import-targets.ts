// What an import loads, as a value: companies, or a resource's records. To add a kind, define a
// value like these and list it at the end.

import type { ColumnRules } from '../files/check-columns.ts'
import type { SourceRow } from '../files/refusal.ts'
import type { Resource } from '../resources/resource.ts'
import type { AttributeChange } from '../store/companies/attribute-text.ts'
import type { ListingState, LoadTarget, RefusedRow, StagedRow } from '../store/importing.ts'
import {
  checkCompany,
  companyIdentity,
  companyNameColumns,
  companyRow,
} from './rows/check-company.ts'
import {
  checkRecord,
  type CheckRow,
  recordColumns,
  recordIdentity,
  recordRow,
} from './rows/check-record.ts'
import { companyChanges, listingChanges } from './record-changes.ts'

export interface ImportTarget extends LoadTarget, ColumnRules {
  readonly check: CheckRow
  /** The identity of a refused row; undefined if it has none. */
  identify(row: SourceRow): RefusedRow | undefined
  /** A checked row, in the columns of a source. */
  rowOf(staged: StagedRow): SourceRow
  /** How an import's changes to a company become events; undefined if it has no history. */
  readonly changesOf: ((before: ListingState, after: ListingState) => AttributeChange[]) | undefined
}

/** Companies and their attributes. */
export const companies: ImportTarget = {
  name: 'companies',
  resource: undefined,
  sourceColumns: undefined,
  requiredColumns: companyNameColumns,
  check: checkCompany,
  identify: companyIdentity,
  rowOf: companyRow,
  changesOf: companyChanges,
}

function recordsOf(resource: Resource): ImportTarget {
  const { history } = resource
  return {
    name: resource.name,
    resource,
    sourceColumns: recordColumns(resource),
    requiredColumns: [],
    check: checkRecord(resource),
    identify: recordIdentity,
    rowOf: recordRow,
    changesOf: history && ((before, after) => listingChanges(history, before, after)),
  }
}

export function importTargets(resources: readonly Resource[]): readonly ImportTarget[] {
  return [companies, ...resources.map(recordsOf)]
}
