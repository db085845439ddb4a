// Compares an import with earlier ones of its source, to find a file that is not the next extract.

import type { ImportedFile } from '../files/source-file.ts'
import { OperatorError } from '../config/operator-error.ts'
import { shortMoment } from '../text/short-moment.ts'
import type { Earlier, EarlierImport, Recipe } from '../store/importing.ts'
import type { ImportRequest } from './import-files.ts'

/** What is compared of an import. */
interface Extract extends Omit<ImportRequest, 'files' | 'asOf'> {
  readonly files: readonly ImportedFile[]
  /** The day of the extract, in wire form. */
  readonly asOf: string | null
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

const advice = 'nothing was changed; if that is intended, add --accept'

/**
 * @throws KnownFiles if an update has nothing to do. OperatorError if the files were imported as of
 *   another day, another file is of the same day, or all earlier imports were snapshots and this is
 *   none.
 */
export function refuseRepeated(earlier: Earlier, extract: Extract): void {
  const { imports, recipe, removedIn } = earlier
  const last = imports.at(-1)
  if (last === undefined) return
  // What was removed may be loaded again.
  const present = imports.filter(({ version }) => version > removedIn)
  const same = present.findLast((one) => hasFiles(one, extract.files))
  if (same !== undefined) refuseSame(same, last, recipe, extract)
  else if (extract.isUpdate) refuseSameDay(present, extract)
  refuseForgottenSnapshot(imports, extract)
}

function hasFiles({ files }: EarlierImport, asked: readonly ImportedFile[]): boolean {
  const known = new Set(files.map(({ sha256 }) => sha256))
  return asked.every(({ sha256 }) => known.has(sha256))
}

function refuseSame(
  same: EarlierImport,
  last: EarlierImport,
  recipe: Recipe | undefined,
  extract: Extract,
): void {
  const { files, asOf, isUpdate } = extract
  const isLast = same === last
  const names = files.map(({ name }) => name).join(', ')
  const are = files.length === 1 ? `${names} is the file` : `${names} are the files`
  // A register without changes gives the same extract as of a later day.
  if (isUpdate && isLast && JSON.stringify(recipe) === JSON.stringify(extract.recipe)) {
    throw new KnownFiles(are, same.version)
  }
  if (asOf !== null && same.asOf !== undefined && asOf !== same.asOf) {
    throw new OperatorError(
      `${are} of version ${same.version}, as of ${shortMoment(same.asOf)}, not ` +
        `${shortMoment(asOf)}; ${advice}`,
    )
  }
  if (isUpdate && !isLast) {
    const since = `version ${last.version} is newer`
    throw new OperatorError(`${are} of version ${same.version}, but ${since}; ${advice}`)
  }
}

function refuseSameDay(imports: readonly EarlierImport[], { asOf }: Extract): void {
  const other = imports.findLast((one) => asOf !== null && one.asOf === asOf)
  if (other === undefined) return
  const names = other.files.map(({ name }) => name).join(', ')
  throw new OperatorError(
    `${shortMoment(other.asOf ?? '')} is the date of version ${other.version}, from another file ` +
      `(${names}); ${advice}`,
  )
}

function refuseForgottenSnapshot(
  imports: readonly EarlierImport[],
  { target, source, isSnapshot, isUpdate }: Extract,
): void {
  if (isSnapshot || isUpdate || imports.some((one) => !one.isSnapshot)) return
  const [count, had] = imports.length === 1 ? ['the import', 'was a'] : ['all imports', 'were']
  const kind = imports.length === 1 ? 'snapshot' : 'snapshots'
  throw new OperatorError(
    `${count} of ${target.name} from ${source} so far ${had} ${kind}, but this one is not; ` +
      'nothing was changed. Add --snapshot, or use the recipe: ' +
      `dossier update ${source} FILE; if that is intended, add --accept`,
  )
}
