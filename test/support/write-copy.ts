// Complete copies of a store, as `dossier export` writes them.

import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePoint, writePoint } from '../../src/http/requests/cursors.ts'
import { resources } from '../../src/resources/index.ts'
import { type Manifest, manifestName } from '../../src/store/exports/manifest.ts'
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
      pointOf: parsePoint,
      onKept: () => undefined,
      onStep: () => undefined,
      signal: new AbortController().signal,
      ...options,
    }),
  )
}

/** Makes a file of the copy of version 1 longer, with zeros, and its manifest say so. */
export function lengthenFile(copies: string, name: string, bytes: number): void {
  truncateSync(join(copies, '1', name), bytes)
  const path = join(copies, '1', manifestName)
  const text = readFileSync(path, 'utf8')
  const at = text.indexOf(name)
  const own = text.slice(at).replace(/"bytes": \d+/, `"bytes": ${bytes}`)
  writeFileSync(path, text.slice(0, at) + own)
}
