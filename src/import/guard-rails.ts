// What is probably a mistake is refused before anything changes, and the refusal names the option
// that permits it.

import { formatCount } from '../text/format-count.ts'
import { isMisspelling } from '../text/nearest.ts'
import { OperatorError } from '../config/operator-error.ts'
import { statementColumns } from '../store/companies/attribute-text.ts'
import { shortMoment } from '../text/moment.ts'
import { isRecordingSource } from '../store/importing.ts'
import type { ImportRequest } from './import-files.ts'

/** The options for what an operator permits although it looks like a mistake. */
const options = {
  /** Days beyond tomorrow. */
  future: 'add --future',
  /** What looks like a mistake because it differs from the registry, or from earlier imports. */
  accepted: 'add --accept',
  /** An import without rows. */
  noRows: 'add --allow-empty',
  /** No day, though earlier extracts had one. */
  noDay: 'or --no-history to record no changes',
}

export type Permissions = Readonly<Record<keyof typeof options, boolean>>

/** Looks for one kind of mistake. */
export interface Rail<Facts> {
  /** Says what looks like a mistake, and if it can be permitted, when to do so. */
  readonly find: (facts: Facts) => string | false | undefined
  /** What permits it; undefined if nothing does. */
  readonly permission?: keyof Permissions
}

/** @throws OperatorError for the first mistake that is not permitted. */
export function judge<Facts extends Pick<ImportRequest, 'permissions'>>(
  rails: readonly Rail<Facts>[],
  facts: Facts,
): void {
  for (const { find, permission } of rails) {
    if (permission !== undefined && facts.permissions?.[permission] === true) continue
    const found = find(facts)
    if (typeof found !== 'string') continue
    throw new OperatorError(permission === undefined ? found : withOption(found, permission))
  }
}

const withOption = (found: string, permission: keyof Permissions) =>
  `${found}, ${options[permission]}`

const dayMs = 86_400_000

/** The last moment of tomorrow in wire form: somewhere in the world it is tomorrow already. */
export function latestMoment(now: number): string {
  return `${new Date(now + dayMs).toISOString().slice(0, 10)}T23:59:59Z`
}

/** No register has earlier extracts: the year must have been mistyped. */
const earliest = '1900-01-01T00:00:00Z'

/** @throws OperatorError if the extract's day is in another century, or beyond `latest`. */
export function refuseDay(asOf: string | undefined, latest: string | undefined): void {
  const reason = asOf === undefined ? undefined : faultOfDay(asOf, latest)
  if (reason !== undefined) throw new OperatorError(`--as-of ${shortMoment(asOf ?? '')} ${reason}`)
}

/** Why an extract, or a row of companies, may not be of a day; undefined if it may. */
export function faultOfDay(asOf: string, latest: string | undefined): string | undefined {
  if (asOf < earliest) return 'is before 1900; check the year'
  if (latest === undefined || asOf <= latest) return undefined
  return withOption('is in the future; if that is intended', 'future')
}

const likeShareMin = 1 / 2

/**
 * A warning if most companies of an import are those of another source: one that was forgotten,
 * unless its own source, which is assumed, has most of them, too; else one that was misspelt, since
 * its name is almost that of its own new source. Undefined if they are not.
 */
export function warnOfLikeSource(
  counts: ReadonlyMap<string, number>,
  sampled: number,
  { source: ownSource, isSourceAssumed: isAssumed }: ImportRequest,
): string | undefined {
  const likes = [...counts].filter(
    ([source, count]) =>
      source !== ownSource &&
      !isRecordingSource(source) &&
      count > sampled * likeShareMin &&
      (isAssumed === true || isMisspelling(ownSource, source)),
  )
  const [source, count] = likes.sort(([, a], [, b]) => b - a)[0] ?? []
  if (source === undefined || count === undefined) return undefined
  const own = counts.get(ownSource) ?? 0
  const share =
    `of the first ${formatCount(sampled)} companies, the source ${source} has ` + formatCount(count)
  if (isAssumed !== true) {
    return `${share}, and ${ownSource} is a new source; was --source ${source} meant?`
  }
  if (own >= sampled * likeShareMin) return undefined
  return (
    `${share} and ${ownSource} has ${formatCount(own)}; ` +
    `was --source ${source} forgotten? If not, add --source ${ownSource}`
  )
}

interface RowsFacts extends ImportRequest {
  /** How many rows were read. */
  readonly read: number
  /** The columns that have a value in the files. */
  readonly columns: readonly string[]
}

/** About all rows of an import. */
export const rowRails: readonly Rail<RowsFacts>[] = [
  {
    find: ({ read, nameAttribute: name, columns }) =>
      read > 0 &&
      name !== undefined &&
      (!columns.includes(name) || statementColumns.has(name)) &&
      `no row has an attribute ${name}; check --name-attribute`,
  },
  {
    find: ({ read, isSnapshot, source, target: { name } }) =>
      read === 0 &&
      isSnapshot &&
      'the snapshot has no rows, so nothing was changed; get the file again or, to remove all ' +
        `${name} of the source: dossier sources remove ${source} --resource ${name}`,
  },
  {
    find: ({ read }) =>
      read === 0 && 'there are no rows, so nothing was changed; if that is intended',
    permission: 'noRows',
  },
]
