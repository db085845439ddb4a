// What the store does not have for a client, as errors (contract section 4): unknown companies,
// versions and changes, answers that would be too large, and its own faults.

import { type Awaitable, orElse } from '../store/awaitable.ts'
import type { ChangesRequest, NoChanges } from '../store/changes.ts'
import { pageBytesMax } from '../store/page-size.ts'
import type { Moment, OutsideHistory } from '../store/reading.ts'
import { joinLinks, linkTo } from './answers/links.ts'
import { writePoint } from './requests/cursors.ts'
import { ApiError, badRequest, cutValue, retryAfter, unavailable } from './errors.ts'

/** Reads from the store; a fault becomes a 503, and its cause goes to the log. */
export function fromStore<T>(read: () => Awaitable<T>): Awaitable<T> {
  return orElse(read, refuse)
}

function refuse(error: unknown): never {
  // Something that the store waited for may have refused the request.
  throw error instanceof ApiError ? error : unavailable(error)
}

/**
 * A 400: the page would exceed the maximum size (contract 3.10).
 *
 * @param greatestLimit is the greatest limit with which every page of the listing fits: a dozen at
 *   least, since records are of 1 MiB at most.
 */
export function pageTooLarge(greatestLimit: number): ApiError {
  const advice = `ask for it with a limit of ${greatestLimit} or less`
  return tooLarge('The page would be larger than', advice)
}

/** A 400: an answer would exceed the maximum size (contract 3.10). */
export function tooLarge(what: string, advice: string): ApiError {
  return badRequest(`${what} ${pageBytesMax >> 20} MiB; ${advice}`)
}

/** A 404. @param near names that the client may have meant. */
export function unknownCompany(company: number | string, near: readonly string[] = []): ApiError {
  const advice = near.length === 0 ? '' : `; did you mean ${near.map(cutValue).join(' or ')}?`
  return new ApiError(404, `Company ${cutValue(String(company))} is not in the registry${advice}`)
}

/**
 * What was read of a company.
 *
 * @param formOf makes the canonical form of the request, without a version.
 * @throws ApiError 404 if the registry, or its version, has no such company, or if there is no such
 *   version; 410 if it was pruned (contract 9.3).
 */
export function requireFound<T extends object>(
  read: T | OutsideHistory | undefined,
  { companyId, version }: { readonly companyId: number; readonly version: number | undefined },
  formOf: () => string,
): T {
  if (read === undefined) {
    if (version === undefined) throw unknownCompany(companyId)
    throw new ApiError(404, `Company ${companyId} was not in the registry at version ${version}`)
  }
  if (!('outside' in read)) return read
  const { outside, earliest, latest } = read
  if (outside === 'later') throw laterVersion(version ?? 0, latest)
  const link = joinLinks([linkTo('latest-version', formOf())])
  throw new ApiError(410, `Version ${version} was pruned; the earliest one is ${earliest}`, {
    headers: link === undefined ? {} : { link },
  })
}

/**
 * A 404: the moment is before the first version of what is requested (contract 9.2).
 *
 * @param what the resource; undefined for the registry as a whole.
 */
export function unknownThen(
  what: string | undefined,
  moment: Moment,
  first: string | undefined,
): ApiError {
  const subject = `Nothing is known${what === undefined ? '' : ` of ${what}`}`
  if (first === undefined) return new ApiError(404, `${subject} yet; nothing was imported`)
  const asked =
    'asOf' in moment
      ? `as of ${moment.asOf}; the earliest day`
      : `at ${new Date(moment.knownAt).toISOString()}; the earliest moment`
  return new ApiError(404, `${subject} ${asked} is ${first}`)
}

/** Why there are no changes: a 410, 404 or 400 (contract 12.3). */
export function noChanges(
  { none, version, registry }: NoChanges,
  { since, after: place, companyId = 0 }: ChangesRequest,
): ApiError {
  const gone = (what: string) => new ApiError(410, `Version ${version}${what}`)
  switch (none) {
    case 'elsewhere':
      return gone(' of the cursor belongs to another history; begin again with after=0')
    case 'pruned': {
      // The client has named the end itself, or has it from the first page.
      const advice = place
        ? `begin again with after=${writePoint(since)}`
        : `until takes one from ${registry.earliestVersion} on`
      return gone(`, to which these changes lead, was pruned; ${advice}`)
    }
    case 'later':
      return laterVersion(version, registry.version)
    case 'backwards':
      return badRequest(`until is version ${version}, which is before that of after`)
    case 'unknown':
      return unknownCompany(companyId)
  }
}

/** A 404: the version may still come, as to a standby that lags (contract 9.3). */
export function laterVersion(version: number, latest: number): ApiError {
  const message = `Version ${version} does not exist yet; the last one is ${latest}`
  return new ApiError(404, message, retryAfter(1))
}
