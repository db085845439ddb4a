// Complete copies of a store, as `dossier export` writes them.

import { writePoint } from '../../src/http/requests/cursors.ts'
import { resources } from '../../src/resources/index.ts'
import type { Manifest } from '../../src/store/exports/manifest.ts'
import { writeExport } from '../../src/store/exports/write-export.ts'
import { withReader } from './open-reader.ts'

/** Writes a copy of the last version into a folder, unless the options say otherwise. */
export function writeCopy(
  db: string,
  folder: string,
  options: Partial<Parameters<typeof writeExport>[2]> = {},
  of = resources,
): Promise<Manifest> {
  return withReader(db, (reader) =>
    writeExport(reader, of, {
      folder,
      formats: ['ndjson.zst'],
      version: undefined,
      cursorOf: writePoint,
      onStep: () => undefined,
      signal: new AbortController().signal,
      ...options,
    }),
  )
}
