// Compares stored data with what an import would store today: the checks of `dossier verify`.

import { columnValuesOf } from '../../resources/filters.ts'
import { listLengthMax } from '../../resources/field.ts'
import { recordBytesMax, type Resource } from '../../resources/resource.ts'
import type { StagedRow } from '../../store/importing.ts'
import type { StoredChecks } from '../../store/inspecting.ts'
import { shapeOf, sortOf } from '../../store/listing/shape.ts'
import { digestBytesOf } from '../../store/record-texts.ts'
import { withheldText } from '../../store/withholding/phrases.ts'
import { checkCompany } from './check-company.ts'
import { type CheckRow, checkRecord } from './check-record.ts'
import { isObject, Refusal, type SourceRow } from '../../files/refusal.ts'

/** The maximum length of a stored record: names may be shorter than what withholds them. */
const storedBytesMax = recordBytesMax + listLengthMax * withheldText.length

/** Makes the checks: each imports the stored text again and expects the same result. */
export function storedChecks(resources: readonly Resource[]): StoredChecks {
  const checks = new Map<string, CheckRow>(
    resources.map((resource) => [resource.name, checkRecord(resource, storedBytesMax)]),
  )
  return {
    checkRecord(resource, { id, text, sort, digest, values }) {
      const row = parse(text)
      if (row !== undefined && row['id'] !== id)
        return `contains the id ${JSON.stringify(row['id'])}`
      const checked = row && checks.get(resource.name)?.({ company_id: 1, ...row })
      if (checked instanceof Refusal) return describe(checked)
      if (row === undefined || checked === undefined) return 'is not a JSON object'
      if (`{"id":${checked.id},${checked.content.toString().slice(1)}` !== text) {
        return 'is not in the form that is served'
      }
      const expected = columnValuesOf(resource)(row)
      if (!expected.every((value, n) => value === values[n])) {
        return 'has other values in its index'
      }
      const place = sortOf(shapeOf(resource), checked.sort)
      if (place !== sort) return 'is ordered by a value other than its own'
      return checkDigest(checked, digest)
    },
    checkAttributes(attributes, digest) {
      const row = parse(attributes)
      const checked = row && checkCompany({ jurisdiction: 'x', identifier: 'x', ...row })
      if (checked instanceof Refusal) return describe(checked)
      if (checked === undefined) return 'is not a JSON object'
      if (checked.content.toString() !== attributes) return 'is not in the stored form'
      return checkDigest(checked, digest)
    },
  }
}

function parse(text: string): SourceRow | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function describe({ field, reason }: Refusal): string {
  return field === undefined ? reason : `${field} ${reason}`
}

function checkDigest(checked: StagedRow, digest: Uint8Array): string | undefined {
  const isOwn = digestBytesOf(checked.digest).equals(digest)
  return isOwn ? undefined : 'does not match its digest'
}
