// The order of a source's extracts: each is of the same day as the one before it, or a later day.

import { OperatorError } from '../config/operator-error.ts'
import { shortMoment } from '../text/short-moment.ts'
import type { Earlier, EarlierImport } from '../store/importing.ts'
import type { ImportRequest } from './import-files.ts'

type Dated = EarlierImport & { readonly asOf: string }

/**
 * Compares the day of an extract with those of its source's earlier ones.
 *
 * With `--accept`, a part may arrive late: each row is still compared with the day of its company.
 * A snapshot may not, nor anything before one, nor records whose changes are recorded: such changes
 * would follow later ones.
 *
 * @throws OperatorError if an earlier one is of a later day.
 */
export function refuseOlder({ imports }: Earlier, request: ImportRequest, asOf: string): void {
  const { target, source, permissions = {} } = request
  const later = imports.filter((one): one is Dated => (one.asOf ?? '') > asOf)
  const [first] = later
  if (first === undefined) return
  const reason = reasonAgainst(request, later)
  if (reason === undefined && permissions.accepted === true) return
  const advice = reason ?? 'If it is a part that arrived late, add --accept'
  throw new OperatorError(
    `the extract is as of ${shortMoment(asOf)}, but the last import of ${target.name} from the ` +
      `source ${source} is as of ${lastDayOf(later)}; nothing was changed. ${advice}. To ` +
      `import in order: dossier revert ${first.version} --with-later, then import this ` +
      'extract, then the later ones again',
  )
}

/**
 * An extract without a day would replace what the source said without recording the changes. Those
 * of records are recorded only if the last import asked for it: else nothing is lost.
 *
 * @throws OperatorError if an earlier extract of the source had a day.
 */
export function refuseUndated(
  { imports, recipe }: Earlier,
  { target, source, permissions = {} }: ImportRequest,
): void {
  const isOfRecords = target.resource !== undefined
  const isRecorded = !isOfRecords || recipe?.options.includes('--history') === true
  const last = lastDayOf(imports)
  if (!isRecorded || last === '' || permissions.noDay === true) return
  const options = isOfRecords ? '--history --as-of DATE' : '--as-of'
  throw new OperatorError(
    `${source} was last imported as of ${last}; give ${options}, or --no-history to record no ` +
      'changes',
  )
}

/** The latest day; empty without one. */
function lastDayOf(imports: readonly EarlierImport[]): string {
  return shortMoment(imports.reduce((last, { asOf = '' }) => (asOf > last ? asOf : last), ''))
}

/** Why an extract may not be imported after later ones; undefined if it may. */
function reasonAgainst(
  { target, recordIn, isSnapshot }: ImportRequest,
  later: readonly Dated[],
): string | undefined {
  if (target.resource === undefined ? isSnapshot : recordIn !== undefined) {
    return 'It would undo the later changes, as of an earlier date'
  }
  if (target.resource !== undefined) return undefined
  const snapshot = later.find((one) => one.isSnapshot)
  if (snapshot === undefined) return undefined
  return `Version ${snapshot.version} is a snapshot, which has newer data of every company`
}
