// The manifest of a complete copy of the registry: what it has, and the cursor from which changes
// continue (contract 12.6). Its members have the names of the wire.

/** How the files of a copy are written. */
export const exportFormats = ['ndjson.zst', 'parquet', 'csv.zst'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportedFile {
  readonly name: string
  readonly format: ExportFormat
  readonly records: number
  readonly bytes: number
  /** As hexadecimal digits. */
  readonly sha256: string
}

/** A file that is on the disk. */
export type WrittenFile = Pick<ExportedFile, 'name' | 'bytes' | 'sha256'>

/** The records of a resource, or the companies, in a copy. */
export interface ExportedResource {
  readonly resource: string
  readonly records: number
  /** How many companies have them. */
  readonly companies: number
  /** Of the records as NDJSON, all files together, before compression. */
  readonly sha256: string
  readonly files: readonly ExportedFile[]
}

export interface Manifest {
  /** The random id of the store. */
  readonly registry: string
  readonly version: number
  readonly committed_at: string
  /** The `after` with which to follow the changes since. */
  readonly cursor: string
  readonly resources: readonly ExportedResource[]
}

/** Parses a manifest; undefined if the text is not one. */
export function parseManifest(text: string): Manifest | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const { registry, cursor, resources } = (parsed ?? {}) as Partial<Manifest>
  const isWhole =
    typeof registry === 'string' &&
    typeof cursor === 'string' &&
    Array.isArray(resources) &&
    resources.every(({ files }: Partial<ExportedResource>) => Array.isArray(files))
  return isWhole ? (parsed as Manifest) : undefined
}

export const manifestName = 'manifest.json'
/** A file with the state of the list of what is withheld when the copy was begun. */
export const withheldName = 'withheld'

/** Finds the file of a copy that has a name. */
export const findFile = ({ resources }: Manifest, name: string) =>
  resources
    .flatMap(({ resource, files }) => files.map((file) => ({ resource, file })))
    .find(({ file }) => file.name === name)
