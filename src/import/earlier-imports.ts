// Compares an import with earlier ones of its source, to find a file that is not the next extract.
// Each extract is of the same day as the one before it, or of a later day.

import type { ImportedFile } from '../files/source-file.ts'
import { OperatorError } from '../config/operator-error.ts'
import { shortMoment } from '../text/moment.ts'
import type { Earlier, EarlierImport } from '../store/importing.ts'
import type { Rail } from './guard-rails.ts'
import type { ImportRequest } from './import-files.ts'

/** An import, and what the log says of earlier ones. */
interface Extract extends Omit<ImportRequest, 'files' | 'asOf'> {
  readonly files: readonly ImportedFile[]
  /** The day of the extract, in wire form. */
  readonly asOf: string | null
  readonly earlier: Earlier
}

/** Thrown if there is nothing to do: the registry has these files. */
export class KnownFiles extends OperatorError {
  /** The version that imported them. */
  readonly version: number

  constructor(names: string, version: number) {
    super(`${names} of version ${version}; nothing to do`)
    this.version = version
  }
}

/** About the place of an import among the earlier ones. */
export const extractRails: readonly Rail<Extract>[] = [
  { find: findLater },
  { find: findSame, permission: 'accepted' },
  { find: findForgottenSnapshot, permission: 'accepted' },
  { find: findLackOfDay, permission: 'noDay' },
]

const advice = 'nothing was changed; if that is intended'

/**
 * Finds earlier extracts of a later day.
 *
 * With `--accept`, a part may arrive late: each row is still compared with the day of its company.
 * A snapshot may not, nor anything before one, nor records whose changes are recorded: such changes
 * would follow later ones.
 */
function findLater({ earlier, ...extract }: Extract) {
  const { target, source, asOf, permissions } = extract
  if (asOf === null) return undefined
  const later = earlier.imports.filter((one) => (one.asOf ?? '') > asOf)
  const [first] = later
  const reason = reasonAgainst(extract, later)
  const isPermitted = reason === undefined && permissions?.accepted === true
  if (first === undefined || isPermitted) return undefined
  return (
    `the extract is as of ${shortMoment(asOf)}, but the last import of ${target.name} from the ` +
    `source ${source} is as of ${lastDayOf(later)}; nothing was changed. ` +
    `${reason ?? 'If it is a part that arrived late, add --accept'}. To import in order: ` +
    `dossier revert ${first.version} --with-later, then import this extract, then the later ` +
    'ones again'
  )
}

/** Why an extract may not be imported after later ones; undefined if it may. */
function reasonAgainst(
  { target, recordIn, isSnapshot }: Omit<Extract, 'earlier'>,
  later: readonly EarlierImport[],
): string | undefined {
  if (target.resource === undefined ? isSnapshot : recordIn !== undefined) {
    return 'It would undo the later changes, as of an earlier date'
  }
  const snapshot = target.resource === undefined && later.find((one) => one.isSnapshot)
  return snapshot
    ? `Version ${snapshot.version} is a snapshot, which has newer data of every company`
    : undefined
}

/**
 * Finds the files in an earlier import or, of an update, other files of the same day.
 *
 * @throws KnownFiles if an update has nothing to do.
 */
function findSame({ earlier, files, asOf, isUpdate, recipe }: Extract) {
  const last = earlier.imports.at(-1)
  // What was removed may be loaded again.
  const present = earlier.imports.filter(({ version }) => version > earlier.removedIn)
  const same = present.findLast((one) => hasFiles(one, files))
  if (same === undefined) {
    const other = present.findLast((one) => one.asOf === asOf)
    return (
      isUpdate &&
      other &&
      `${shortMoment(asOf ?? '')} is the date of version ${other.version}, from another file ` +
        `(${namesOf(other.files)}); ${advice}`
    )
  }
  const are = `${namesOf(files)} ${files.length === 1 ? 'is the file' : 'are the files'}`
  const version = `${are} of version ${same.version}`
  // A register without changes gives the same extract as of a later day.
  const isNothing = same === last && JSON.stringify(earlier.recipe) === JSON.stringify(recipe)
  if (isUpdate === true && isNothing) throw new KnownFiles(are, same.version)
  if (asOf !== null && same.asOf !== undefined && asOf !== same.asOf) {
    return `${version}, as of ${shortMoment(same.asOf)}, not ${shortMoment(asOf)}; ${advice}`
  }
  const isOlder = isUpdate === true && same !== last
  return isOlder && `${version}, but version ${last?.version} is newer; ${advice}`
}

function hasFiles({ files }: EarlierImport, asked: readonly ImportedFile[]): boolean {
  const known = new Set(files.map(({ sha256 }) => sha256))
  return asked.every(({ sha256 }) => known.has(sha256))
}

const namesOf = (files: readonly ImportedFile[]) => files.map(({ name }) => name).join(', ')

function findForgottenSnapshot({ earlier, target, source, isSnapshot, isUpdate }: Extract) {
  const { imports } = earlier
  const isForgotten = !isSnapshot && !isUpdate && imports.every((one) => one.isSnapshot)
  if (!isForgotten || imports.length === 0) return undefined
  const [count, were] =
    imports.length === 1 ? ['the import', 'was a snapshot'] : ['all imports', 'were snapshots']
  return (
    `${count} of ${target.name} from ${source} so far ${were}, but this one is not; ` +
    'nothing was changed. Add --snapshot, or use the recipe: ' +
    `dossier update ${source} FILE; if that is intended`
  )
}

/**
 * An extract without a day would replace what the source said without recording the changes. Those
 * of records are recorded only if the last import asked for it: else nothing is lost.
 */
function findLackOfDay({ earlier, target, source, asOf }: Extract) {
  const { imports, recipe } = earlier
  const isOfRecords = target.resource !== undefined
  const isRecorded = !isOfRecords || recipe?.options.includes('--history') === true
  const last = lastDayOf(imports)
  const asked = isOfRecords ? '--history --as-of DATE' : '--as-of'
  const isLost = asOf === null && isRecorded && last !== ''
  return isLost && `${source} was last imported as of ${last}; give ${asked}`
}

/** The latest day; empty without one. */
function lastDayOf(imports: readonly EarlierImport[]): string {
  return shortMoment(imports.reduce((last, { asOf = '' }) => (asOf > last ? asOf : last), ''))
}
