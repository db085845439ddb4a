// Compares stored data with what an import would store today: the checks of `dossier verify`.

import type { Resource } from '../resources/resource.ts'
import type { StagedRow } from '../store/importing.ts'
import type { StoredChecks } from '../store/inspecting.ts'
import { checkCompany } from './check-company.ts'
import { type CheckRow, checkRecord, type SourceRow } from './check-record.ts'
import { Refusal } from './refusal.ts'

/** Makes the checks: each imports the stored text again and expects the same result. */
export function storedChecks(resources: readonly Resource[]): StoredChecks {
  const checks = new Map<string, CheckRow>(
    resources.map((resource) => [resource.name, checkRecord(resource)]),
  )
  return {
    checkRecord(resource, { record, sort, digest, filters }) {
      const row = parse(record)
      const checked = row && checks.get(resource.name)?.({ company_id: 1, ...row })
      if (checked instanceof Refusal) return describe(checked)
      if (checked === undefined) return 'is not a JSON object'
      if (`{"id":${checked.id},${checked.content.slice(1)}` !== record) {
        return 'is not in the form that is served'
      }
      if (filters !== undefined && !checked.filters.every((value, n) => value === filters[n])) {
        return 'is filtered by other values'
      }
      return checkBeside(checked, sort, digest)
    },
    checkAttributes(attributes, digest) {
      const row = parse(attributes)
      const checked = row && checkCompany({ jurisdiction: 'x', identifier: 'x', ...row })
      if (checked instanceof Refusal) return describe(checked)
      if (checked === undefined) return 'is not a JSON object'
      if (checked.content !== attributes) return 'is not in the stored form'
      return checkBeside(checked, '', digest)
    },
  }
}

function parse(text: string): SourceRow | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as SourceRow)
      : undefined
  } catch {
    return undefined
  }
}

function describe({ field, reason }: Refusal): string {
  return field === undefined ? reason : `${field} ${reason}`
}

function checkBeside(checked: StagedRow, sort: string, digest: string): string | undefined {
  if (checked.sort !== sort) return 'is ordered by a value other than its own'
  return checked.digest === digest ? undefined : 'does not match its digest'
}
