// The company in a request's path: its id, or its name in a register (contract 1.5).

import { nearNames } from '../near-names.ts'
import type { CompanyName, IdentifyingName } from '../store/inspecting.ts'
import type { StoreReader } from '../store/reading.ts'
import { fromStore, invalid, unknownCompany } from './errors.ts'

const positiveDigits = /^[1-9]\d{0,15}$/
const takes =
  'it takes an integer from 1 to 9007199254740991, or a name in a register such as GB:09876543'

/**
 * Parses a decoded segment of the path: an id, or `JURISDICTION:IDENTIFIER`, split at the first
 * colon.
 *
 * @throws ApiError 400 if it is neither.
 */
export function parseCompany(segment: string): CompanyName {
  const colon = segment.indexOf(':')
  if (colon < 0) {
    const companyId = positiveDigits.test(segment) ? Number(segment) : NaN
    if (Number.isSafeInteger(companyId)) return companyId
  } else if (colon > 0 && colon < segment.length - 1 && !segment.includes('\0')) {
    return [segment.slice(0, colon), segment.slice(colon + 1)]
  }
  throw invalid('company_id', segment, takes)
}

/**
 * Finds the id of a company by its name in a register.
 *
 * @throws ApiError 404 that names near companies, if there are any; 503 without the store.
 */
export async function findCompany(store: StoreReader, name: IdentifyingName): Promise<number> {
  const found = await fromStore(() => store.findCompany(name))
  if (found !== undefined) return found
  const near = await fromStore(() => store.findNames(nearNames(...name), nearShownMax))
  throw unknownCompany(
    name.join(':'),
    near.map((one) => one.join(':')),
  )
}

const nearShownMax = 3
