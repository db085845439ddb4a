// Which versions a revert takes back, and whether it may.

import { OperatorError } from '../../config/operator-error.ts'
import { isRecordingSource, recordingSource } from '../importing.ts'
import type { LoggedImport } from '../inspecting.ts'
import type { RevertRange } from '../writing.ts'

/**
 * Versions of one source and target, and of the changes recorded from it: all those from the first
 * on. Of these changes alone if they have only been removed.
 */
export interface RevertGroup extends Pick<LoggedImport, 'target' | 'source'> {
  readonly versions: readonly LoggedImport[]
}

/**
 * Chooses the versions to take back, in groups of one source and target; none if the state of
 * version `to` is the current one.
 *
 * @param log all versions, in order.
 * @param pastFrom the earliest version whose state is completely known.
 * @throws OperatorError that says what to do, if they cannot be taken back.
 */
export function chooseVersions(
  log: readonly LoggedImport[],
  range: RevertRange,
  pastFrom: number,
): readonly RevertGroup[] {
  const groups = 'to' in range ? allAfter(log, range.to) : [versionsFrom(log, range)]
  for (const { versions } of groups) {
    const first = versions[0]?.version ?? 0
    if (first - 1 < pastFrom) {
      throw new OperatorError(
        `version ${first} cannot be reverted: the state before it was pruned ` +
          `(the history is complete from version ${pastFrom} on)`,
      )
    }
  }
  return groups
}

function versionsFrom(
  log: readonly LoggedImport[],
  { version, isWithLater }: { version: number; isWithLater: boolean },
): RevertGroup {
  const chosen = find(log, version)
  const { target, source, revertedBy } = chosen
  if (isWithholding(chosen)) {
    throw new OperatorError(
      `version ${version} is a withholding, which cannot be reverted; ` +
        'see: dossier withhold list',
    )
  }
  if (revertedBy !== undefined) {
    throw new OperatorError(
      `version ${version} was reverted by version ${revertedBy}; ` +
        `to restore it: dossier revert ${revertedBy}`,
    )
  }
  const versions = log.filter((one) => one.version >= version && nameOf(one) === nameOf(chosen))
  const later = versions.filter((one) => one.version > version && isInForce(one))
  if (later.length > 0 && !isWithLater) {
    const shown = later.slice(0, 10).map((one) => one.version)
    const more = later.length > shown.length ? ` and ${later.length - shown.length} more` : ''
    throw new OperatorError(
      `version ${version} (${target} from ${source}) has later imports of the same source: ` +
        `${shown.join(', ')}${more}; revert them, too, with --with-later`,
    )
  }
  return groupOf(versions, chosen)
}

/** Whether a version has withheld something, which no revert restores. */
const isWithholding = ({ reverts }: LoggedImport) => reverts?.length === 0

/** An import that no revert has taken back; a revert itself stands for what it restored. */
function isInForce({ reverts, revertedBy }: LoggedImport): boolean {
  return reverts === undefined && revertedBy === undefined
}

/** A version, and the version that reverts it. */
type RevertedBy = readonly [version: number, by: number | undefined]

/**
 * What changes in the log when a revert is added to it. A revert restores the state before the
 * first version that it takes back, and with it what was reverted then.
 *
 * @param log the versions of one group, in order, the new revert as the last one.
 */
export function changedReverts(
  log: readonly Pick<LoggedImport, 'version' | 'reverts' | 'revertedBy'>[],
): readonly RevertedBy[] {
  const changed: RevertedBy[] = []
  let by: number | undefined
  let firstTaken = Infinity
  for (const { version, reverts, revertedBy } of log.toReversed()) {
    if (version < firstTaken) {
      // It is part of the restored state.
      if (revertedBy !== undefined) changed.push([version, undefined])
      if (reverts !== undefined) {
        by = version
        firstTaken = Math.min(...reverts)
      }
    } else if (revertedBy !== by) changed.push([version, by])
  }
  return changed
}

function allAfter(log: readonly LoggedImport[], to: number): readonly RevertGroup[] {
  if (to !== 0) find(log, to)
  const after = log.filter((one) => one.version > to && !isWithholding(one))
  return [...Map.groupBy(after, nameOf)].flatMap(([name, versions]) => {
    const before = log.filter((one) => one.version <= to && nameOf(one) === name)
    const isReverted = before.some(({ revertedBy = to }) => revertedBy > to)
    // Otherwise, it already has the state of version `to`.
    const isOther = isReverted || versions.some(isInForce)
    const [one] = versions
    if (!isOther || one === undefined) return []
    return [groupOf(versions, one)]
  })
}

function groupOf(versions: readonly LoggedImport[], one: LoggedImport): RevertGroup {
  const { target, source } = versions.find(({ source }) => !isRecordingSource(source)) ?? one
  return { target, source, versions }
}

/** What a version shares with those of its group. */
export const nameOf = ({ target, source }: Pick<LoggedImport, 'target' | 'source'>): string =>
  isRecordingSource(source) ? source : recordingSource(source, target)

function find(log: readonly LoggedImport[], version: number): LoggedImport {
  const found = log.find((one) => one.version === version)
  if (found !== undefined) return found
  const last = log.at(-1)?.version
  throw new OperatorError(
    last === undefined
      ? 'nothing has been imported yet'
      : `there is no version ${version}; the latest is ${last} (see: dossier imports)`,
  )
}
