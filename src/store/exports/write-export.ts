// Writes a complete copy of the registry at a version: whole, or not at all (contract 12.6).
//
// Changes continue from it without a gap: a copy is the state at a version, which is their `since`.

import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../config/operator-error.ts'
import { flush, privateFolderMode, privateMode } from '../../files/new-file.ts'
import type { Resource } from '../../resources/resource.ts'
import type { HistoryPoint, NamedPoint } from '../changes.ts'
import type { StoreReader } from '../serving/store-reader.ts'
import { companiesScope } from '../keys.ts'
import {
  exportedVersions,
  isInHistory,
  partialPattern,
  readExport,
  removeKilled,
  versionPattern,
} from './folder.ts'
import { type ExportedResource, type Manifest, manifestName, withheldName } from './manifest.ts'
import type { CopyPart } from './read-copy.ts'
import { createOutput, type OutputOptions } from './resource-output.ts'
import { companyRows, recordRows } from './row-writer.ts'

interface ExportPlan extends Omit<OutputOptions, 'partial'> {
  /** The folder of copies. */
  readonly folder: string
  /** Undefined for the last one. */
  readonly version: number | undefined
  /** How the version is named as a cursor. */
  readonly cursorOf: (point: HistoryPoint) => string
  /** What a cursor names; undefined if it is not one. */
  readonly pointOf: (cursor: string) => NamedPoint | undefined
  /** Is called if the folder has this copy, so that nothing is written. */
  readonly onKept: (version: number) => void
}

const durable = { flush: true, mode: privateMode }

/**
 * Writes a copy, unless the folder has the same one: then there is nothing to do, as on a night
 * after a day without an import.
 *
 * @returns the manifest.
 * @throws OperatorError that says what to do, or the signal's reason; nothing is left behind.
 */
export async function writeExport(
  store: StoreReader,
  resources: readonly Resource[],
  plan: ExportPlan,
): Promise<Manifest> {
  prepareFolder(plan.folder)
  refuseOthers(plan.folder, store.storeId)
  const withheldState = await store.withheldState()
  const registry = await store.readRegistry()
  if (registry.version === 0) throw new OperatorError('there is nothing to export; import first')
  const version = plan.version ?? registry.version
  const known = readExport(plan.folder, version)
  if (known !== undefined) {
    const { manifest } = known
    // No server offers a copy that was withdrawn, or of a history that a restored backup has left.
    if (known.withheldState !== withheldState) throw hasCopy(plan.folder, version, 'withdrawn ')
    const point = plan.pointOf(manifest.cursor)
    const isOffered = point !== undefined && (await isInHistory(store, point))
    if (!isOffered || !hasFormats(manifest, plan.formats)) throw hasCopy(plan.folder, version)
    plan.onKept(version)
    return manifest
  }
  const partial = join(plan.folder, `.${version}.${process.pid}.${randomUUID()}.partial`)
  const whole = join(plan.folder, String(version))
  let made = partial
  try {
    mkdirSync(partial, privateFolderMode)
    writeFileSync(join(partial, withheldName), `${withheldState}\n`, durable)
    const manifest = await writeAll(store, resources, { ...plan, version, partial })
    writeFileSync(join(partial, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, durable)
    flush(partial)
    renameSync(partial, whole)
    made = whole
    flush(plan.folder)
    // Orders withdraw a copy from now on; one that came before has not seen it.
    if ((await store.withheldState()) !== withheldState) {
      throw new OperatorError(
        'what is withheld has changed while this copy was written; nothing was kept; run it again',
      )
    }
    return manifest
  } catch (error) {
    rmSync(made, { recursive: true, force: true })
    if (made === partial && existsSync(whole)) throw hasCopy(plan.folder, version)
    throw explained(error, plan.folder)
  }
}

function hasFormats({ resources }: Manifest, formats: readonly string[]): boolean {
  const own = new Set(resources.flatMap(({ files }) => files.map(({ format }) => format)))
  return own.symmetricDifference(new Set(formats)).size === 0
}

function hasCopy(folder: string, version: number, state = ''): OperatorError {
  const advice = `to write it again, remove ${join(folder, String(version))} first`
  return new OperatorError(`${folder} already has a ${state}copy of version ${version}; ${advice}`)
}

/** The versions of two registries have the same numbers: one copy would take the other's place. */
function refuseOthers(folder: string, storeId: string): void {
  const copies = exportedVersions(folder).map((version) => readExport(folder, version))
  const other = copies.find((copy) => copy !== undefined && copy.manifest.registry !== storeId)
  if (other === undefined) return
  throw new OperatorError(`${other.folder} is a copy of another registry; name another folder`)
}

/** Makes the folder, and removes what killed exports have left in it. */
function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: privateFolderMode })
  } catch (error) {
    if (existsSync(folder)) throw new OperatorError(`${folder} is a file; name a folder`)
    throw explained(error, folder)
  }
  for (const name of readdirSync(folder)) {
    if (versionPattern.test(name) || partialPattern.test(name)) continue
    throw new OperatorError(`${folder} has other files (${name}); name a folder of its own`)
  }
  removeKilled(folder)
}

/** A failure of the file system, as the system or DuckDB reports it. */
function explained(error: unknown, folder: string): unknown {
  if (!(error instanceof Error)) return error
  if (!('syscall' in error) && !/No space left/i.test(error.message)) return error
  const advice = 'free some space or name another folder, and run the command again'
  return new OperatorError(`${folder} cannot be written (${error.message}); ${advice}`)
}

interface Writing extends ExportPlan {
  readonly version: number
  readonly partial: string
}

async function writeAll(
  store: StoreReader,
  resources: readonly Resource[],
  writing: Writing,
): Promise<Manifest> {
  const kinds = [
    { name: companiesScope, resource: undefined, rows: companyRows },
    ...resources.map((resource) => {
      return { name: resource.name, resource, rows: recordRows(resource) }
    }),
  ]
  let until: NamedPoint = { version: writing.version, lineage: undefined }
  const exported: ExportedResource[] = []
  for (const { name, resource, rows } of kinds) {
    const output = createOutput(name, rows, writing)
    try {
      for await (const part of partsOf(store, resource, until)) {
        until = part.until
        await output.add(part.copied)
        writing.signal.throwIfAborted()
      }
      exported.push(await output.finish())
    } finally {
      output.abandon()
    }
  }
  const { version, lineage, committedAt } = until
  if (lineage === undefined || committedAt === undefined) {
    throw new Error('an export has read nothing')
  }
  return {
    registry: store.storeId,
    version,
    committed_at: new Date(committedAt).toISOString(),
    cursor: writing.cursorOf({ version, lineage, committedAt }),
    resources: exported,
  }
}

/**
 * The records of a resource, or the companies, a part at a time.
 *
 * @throws OperatorError if there is no such version, or it was pruned meanwhile.
 */
async function* partsOf(
  store: StoreReader,
  resource: Resource | undefined,
  named: NamedPoint,
): AsyncGenerator<CopyPart> {
  let [until, after]: [NamedPoint, CopyPart['next']] = [named, undefined]
  for (;;) {
    const part = await store.readCopy({ resource, until, after })
    if ('none' in part) {
      const { version, earliestVersion } = part.registry
      throw new OperatorError(
        `version ${part.version} cannot be exported; name one from ${earliestVersion} to ` +
          String(version),
      )
    }
    yield part
    if (part.next === undefined) return
    ;({ until, next: after } = part)
  }
}
