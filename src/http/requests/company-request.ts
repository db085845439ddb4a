// The company in a request's path: its id, or its register number (contract 1.5), and the
// version given with it: its number, or a moment (contract 9.1).

import { nearNames } from '../../text/near-names.ts'
import type { Resource } from '../../resources/resource.ts'
import { after, type Awaitable } from '../../store/awaitable.ts'
import type { CompanyName, IdentifyingName } from '../../store/inspecting.ts'
import type { Moment } from '../../store/reading.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { invalid } from '../errors.ts'
import { fromStore, laterVersion, unknownCompany, unknownThen } from '../store-errors.ts'

const positiveDigits = /^[1-9]\d{0,15}$/
const takes =
  'it takes an integer from 1 to 9007199254740991, or a register number such as GB:09876543'

/** Parses a decoded segment of the path. @throws ApiError 400 if it cannot name a company. */
export function parseCompany(segment: string): CompanyName {
  const company = companyNamed(segment)
  if (company !== undefined) return company
  throw invalid('company_id', segment, takes)
}

/**
 * The company that a text names: an id, or `JURISDICTION:IDENTIFIER`, split at the first colon;
 * undefined if it is neither.
 */
export function companyNamed(text: string): CompanyName | undefined {
  const colon = text.indexOf(':')
  if (colon < 0) {
    const companyId = positiveDigits.test(text) ? Number(text) : NaN
    return Number.isSafeInteger(companyId) ? companyId : undefined
  }
  const isName = colon > 0 && colon < text.length - 1 && !text.includes('\0')
  return isName ? [text.slice(0, colon), text.slice(colon + 1)] : undefined
}

/** A company and a version, as a client wrote them. */
interface NamedState {
  readonly company: CompanyName
  readonly version: number | Moment | undefined
}

export interface NumberedState {
  readonly companyId: number
  /** Undefined for the last one. */
  readonly version: number | undefined
}

/** Whether company or version are named in another way than by their numbers. */
export function isByName({ company, version }: NamedState): boolean {
  return typeof company !== 'number' || typeof version === 'object'
}

/**
 * Finds the numbers of a company and a version.
 *
 * @param isNearTold whether the client may learn which companies there are besides the one that it
 *   names, as every key may that may search for companies.
 * @param resource of the listing; undefined for the company as a whole.
 * @throws ApiError 404, which names near companies where it may, or the first moment that can be
 *   asked for, or says that the version may come; 503 without the store.
 */
export function locate(
  store: StoreReader,
  { company, version }: NamedState,
  isNearTold = true,
  resource?: Resource,
): Awaitable<NumberedState> {
  const found = typeof version === 'object' ? findVersion(store, resource, version) : version
  return after(found, (numbered) => {
    const id =
      typeof company === 'number' ? company : findCompany(store, company, numbered, isNearTold)
    return after(id, (companyId) => ({ companyId, version: numbered }))
  })
}

async function findVersion(
  store: StoreReader,
  resource: Resource | undefined,
  moment: Moment,
): Promise<number> {
  const found = await fromStore(() => store.findVersion(resource, moment))
  if ('version' in found) return found.version
  throw unknownThen(resource?.name, moment, found.first)
}

async function findCompany(
  store: StoreReader,
  name: IdentifyingName,
  version: number | undefined,
  isNearTold: boolean,
): Promise<number> {
  const found = await fromStore(() => store.findCompany(name, version))
  if (found !== undefined) return found
  if (version !== undefined) {
    // A standby that lags may learn of the company only with that version.
    const { version: latest } = await fromStore(() => store.readRegistry())
    if (version > latest) throw laterVersion(version, latest)
  }
  const near = isNearTold
    ? await fromStore(() => store.findNames(nearNames(...name), nearShownMax))
    : []
  throw unknownCompany(
    name.join(':'),
    near.map((one) => one.join(':')),
  )
}

const nearShownMax = 3

export const companiesPath = '/api/v1/companies'

/** The path of a company; without one, its id is in braces. */
export function companyPath(companyId: number | string = '{company_id}'): string {
  return `${companiesPath}/${companyId}`
}
