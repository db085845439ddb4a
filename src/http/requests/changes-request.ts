// A request for changes as one value (contract 12.1).

import type { Resource } from '../../resources/resource.ts'
import type { ChangesRequest, NamedPoint } from '../../store/changes.ts'
import { companiesScope } from '../../store/keys.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { advise } from '../../text/nearest.ts'
import { locate, parseCompany } from './company-request.ts'
import { type Cursor, parseCursor, parsePoint, walkOf } from './cursors.ts'
import { badRequest, forbidden, invalid } from '../errors.ts'
import { chooseFormat, type Format, formatName } from './formats.ts'
import { parameters, type Parameter, readIntegers } from './listing-request.ts'
import { checkNames, type Given, readValue } from './members.ts'

export const changesPath = '/api/v1/changes'

const changesFormats = ['json', 'ndjson'] as const satisfies readonly Format[]

/** The parameters that are numbers. */
export const changesNumbers = {
  limit: parameters.limit,
  wait: { default: 0, minimum: 0, maximum: 60 },
} as const satisfies Readonly<Record<string, Parameter>>

/** The other parameters, and whether they must be given. */
export const changesTexts = {
  after: 'required',
  until: 'optional',
  resource: 'optional',
  company_id: 'optional',
} as const

/** A field of a resource may have the same name, so that it is not written out. */
const [cursorName = ''] = Object.keys(changesTexts)

export type ChangesQuestion = Readonly<ReturnType<typeof parseChangesRequest>>

/** @throws ApiError 400 that names the parameter, its value and what it takes (contract 1.4). */
export function parseChangesRequest(
  resources: readonly Resource[],
  given: Given,
  accept: string | undefined,
) {
  const names = [...Object.keys(changesTexts), ...Object.keys(changesNumbers), formatName]
  checkNames(given, names)
  const { limit, wait } = readIntegers(changesNumbers, given)
  const format = chooseFormat(given, accept, changesFormats)
  const resource = parseResource(resources, given)
  const company = readText('company_id', given)
  const cursor = parseAfter(given)
  const until = parseUntil(given, cursor)
  const members = new URLSearchParams({ limit: String(limit) })
  if (resource !== undefined) members.set('resource', resource)
  if (company !== undefined) members.set('company_id', company)
  if (format !== 'json') members.set(formatName, format)
  return {
    cursor,
    until,
    /** The name of a resource, or `companies`. */
    resource,
    limit,
    format,
    waitMs: wait * 1_000,
    company: company === undefined ? undefined : parseCompany(company),
    /** What is requested, in canonical form, without the cursor, `until` and the wait. */
    query: `&${members.toString()}`,
  }
}

/** Which listings there are, and whether a client may read the one of a name. */
interface Readable {
  readonly resources: readonly Resource[]
  readonly isReadable: (name: string) => boolean
}

/**
 * Finds the company of a question, and the listings that it asks for.
 *
 * @throws ApiError 403 for a listing that may not be read; 404 for an unknown name; 400 for a
 *   cursor of a walk through other listings, or of another company.
 */
export async function locateChanges(
  store: StoreReader,
  { cursor, until, resource, company, limit }: ChangesQuestion,
  { resources, isReadable }: Readable,
): Promise<ChangesRequest> {
  const isRead = (name: string) => isReadable(name) && (resource ?? name) === name
  if (resource !== undefined && !isRead(resource)) throw forbidden()
  const { since, after, walk } = cursor
  // The number of a company that was forgotten since still finds what is gone.
  const named = company === undefined ? undefined : { company, version: since.version }
  const located = named && (await locate(store, named, isReadable(companiesScope)))
  const companyId = located?.companyId
  const hasCompanies = isRead(companiesScope)
  const read = resources.filter(({ name }) => isRead(name))
  const asked = { since, until, after, limit, hasCompanies, resources: read, companyId }
  if (after !== undefined && !(isRead(after.listing) && walk === walkOf(asked))) {
    throw badRequest(
      'after is a page of another request; repeat its resource and company_id, with a key of the ' +
        'same scopes',
    )
  }
  return asked
}

/** A parameter that is a text, or a number that is one as it is written. */
function readText(name: string, given: Given): string | undefined {
  return readValue(name, given, (written) => {
    if (typeof written === 'string') return written
    if (typeof written === 'number' && Number.isSafeInteger(written)) return String(written)
    throw invalid(name, written, 'it takes a text')
  })
}

const takesCursor =
  'it takes 0, a cursor from `until` or `next` of an earlier answer, or the number of a version'

function parseAfter(given: Given): Cursor {
  const text = readText(cursorName, given)
  if (text === undefined) throw badRequest(`after is missing; ${takesCursor}`)
  const cursor = parseCursor(text)
  if (cursor === undefined) throw invalid(cursorName, text, takesCursor)
  return cursor
}

function parseUntil(given: Given, cursor: Cursor): NamedPoint | undefined {
  const text = readText('until', given)
  if (text === undefined) return cursor.until
  const until = parsePoint(text)
  if (until === undefined) {
    throw invalid('until', text, 'it takes the number of a version, or a cursor from `until`')
  }
  const { until: fixed } = cursor
  const isOther =
    fixed !== undefined &&
    (fixed.version !== until.version ||
      (until.lineage !== undefined && until.lineage !== fixed.lineage))
  if (isOther) throw badRequest(`until is ${text}, but the cursor leads to ${fixed.version}`)
  return fixed ?? until
}

function parseResource(resources: readonly Resource[], given: Given): string | undefined {
  const text = readText('resource', given)
  const known = [companiesScope, ...resources.map(({ name }) => name)]
  if (text === undefined || known.includes(text)) return text
  throw invalid('resource', text, advise(text, known, `it takes ${known.join(', ')}`))
}
