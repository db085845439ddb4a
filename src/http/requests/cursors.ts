// Cursors of changes: a state of the registry, or a page between two of them (contract 12.3).
//
// A state is a version, the lineage of its import, and the moment of its commit, by which a cursor
// of another history is recognised. A page has both states, the last change before it, and what its
// walk reads: with other listings, as with a key of other scopes, or with another company, the walk
// would silently skip changes.

import type { ChangesPlace, ChangesRequest, HistoryPoint, NamedPoint } from '../../store/changes.ts'
import { companiesScope } from '../../store/keys.ts'

/** The meaning of a cursor: a state, or where a walk continues. */
export interface Cursor {
  readonly since: NamedPoint
  /** Both or none of them. */
  readonly until: NamedPoint | undefined
  readonly after: ChangesPlace | undefined
  /** As `walkOf` writes it. */
  readonly walk: string | undefined
}

const pointPattern = /^(?:0|([1-9]\d{0,9})(?:\.([0-9a-f]{16})\.([0-9a-z]{1,9}))?)$/
/** The base in which moments are written, as milliseconds since 1970. */
const momentRadix = 36
const walkPattern = /^[a-z_-]{0,900}\.\d{0,16}$/
const placePattern = /^([a-z_]{1,64})\.(\d{1,10})\.(\d{1,16})(?:\.(-?\d{1,16})\.(\d{1,16}))?$/

/** A cursor that begins at a state. */
export function writePoint({ version, lineage, committedAt }: NamedPoint): string {
  if (version === 0) return '0'
  const parts = [version, lineage, committedAt?.toString(momentRadix)]
  return parts.filter((part) => part !== undefined).join('.')
}

/** What a walk reads: its listings, and its company, if it is of one. */
export function walkOf({ hasCompanies, resources, companyId }: WalkRequest): string {
  const listings = resources.map(({ name }) => name)
  if (hasCompanies) listings.unshift(companiesScope)
  return `${listings.join('-')}.${companyId ?? ''}`
}

type WalkRequest = Pick<ChangesRequest, 'hasCompanies' | 'resources' | 'companyId'>

/** A cursor of the page of a walk after a change. */
export function writePage(
  [since, until]: readonly [HistoryPoint, HistoryPoint],
  place: ChangesPlace,
  walk: string,
): string {
  const { listing, version, companyId, record } = place
  const at = [listing, version, companyId, ...(record ? [record.sort, record.id] : [])]
  return [writePoint(since), writePoint(until), at.join('.'), walk].join('~')
}

/** A state; undefined if the text is not one. A version's number alone has no lineage. */
export function parsePoint(text: string): NamedPoint | undefined {
  const match = pointPattern.exec(text)
  if (match === null) return undefined
  const [, version, lineage, moment] = match
  if (version === undefined) return { version: 0, lineage: '' }
  const committedAt = moment === undefined ? undefined : parseInt(moment, momentRadix)
  return { version: Number(version), lineage, committedAt }
}

/** The meaning of a cursor; undefined if the text is not a cursor. */
export function parseCursor(text: string): Cursor | undefined {
  const [first = '', second, third = '', walk = '', ...more] = text.split('~')
  const since = parsePoint(first)
  if (since === undefined) return undefined
  if (second === undefined) return { since, until: undefined, after: undefined, walk: undefined }
  const until = parsePoint(second)
  const after = parsePlace(third)
  const isWhole = until?.lineage !== undefined && since.lineage !== undefined && more.length === 0
  return isWhole && after && walkPattern.test(walk) ? { since, until, after, walk } : undefined
}

function parsePlace(text: string): ChangesPlace | undefined {
  const match = placePattern.exec(text)
  if (match === null) return undefined
  const [, listing = '', version, company, sort, id] = match
  const record = sort === undefined ? undefined : { sort: Number(sort), id: Number(id) }
  return { listing, version: Number(version), companyId: Number(company), record }
}
