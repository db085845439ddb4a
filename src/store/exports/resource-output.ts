// The files of a resource in a copy, one after another, in all formats.

import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openCompressed } from './compressed-file.ts'
import type { ExportedFile, ExportedResource, ExportFormat } from './manifest.ts'
import type { CopiedRecords } from './read-copy.ts'
import type { RowWriter } from './row-writer.ts'
import { writeParquet } from './write-parquet.ts'

/** Where files are written, and how. */
export interface OutputOptions {
  readonly formats: readonly ExportFormat[]
  readonly partial: string
  /** How many records a file has at most; a segment has fewer. */
  readonly recordsMax?: number
  readonly onStep: (resource: string, records: number) => void
  readonly signal: AbortSignal
}

const recordsMaxUsual = 1_000_000

/** @param name of the resource, or `companies`. */
export function createOutput(name: string, rows: RowWriter, options: OutputOptions) {
  const { recordsMax = recordsMaxUsual, onStep } = options
  const digest = createHash('sha256')
  const files: ExportedFile[] = []
  let open: OpenFiles | undefined
  let [number, records, inFile, companies, company] = [0, 0, 0, 0, 0]

  async function close(): Promise<void> {
    if (open !== undefined) files.push(...(await open.close(inFile)))
    open = undefined
    inFile = 0
  }

  async function write(some: readonly CopiedRecords[]): Promise<void> {
    if (some.length === 0) return
    open ??= openFiles(`${name}-${(number += 1)}`, rows, options)
    const lines = Buffer.from(some.map(rows.json).join(''), 'latin1')
    digest.update(lines)
    await open.write(lines, some)
    for (const { companyId } of some) {
      if (companyId !== company) companies += 1
      company = companyId
    }
  }

  return {
    async add(copied: readonly CopiedRecords[]): Promise<void> {
      let some: CopiedRecords[] = []
      for (const one of copied) {
        if (inFile > 0 && inFile + one.records > recordsMax) {
          await write(some)
          await close()
          some = []
        }
        some.push(one)
        inFile += one.records
        records += one.records
      }
      await write(some)
      onStep(name, records)
    },
    async finish(): Promise<ExportedResource> {
      await close()
      return { resource: name, records, companies, sha256: digest.digest('hex'), files }
    },
    abandon: () => open?.abandon(),
  }
}

type OpenFiles = ReturnType<typeof openFiles>

/** The same records in all formats. NDJSON is always written, since Parquet is made from it. */
function openFiles(name: string, rows: RowWriter, { formats, partial, signal }: OutputOptions) {
  const pathOf = (format: ExportFormat) => join(partial, `${name}.${format}`)
  const json = openCompressed(pathOf('ndjson.zst'))
  const csv = formats.includes('csv.zst') ? openCompressed(pathOf('csv.zst')) : undefined
  let isEmpty = true
  return {
    async write(lines: Buffer, some: readonly CopiedRecords[]): Promise<void> {
      await json.write(lines)
      if (csv !== undefined) {
        const header = Buffer.from(isEmpty ? rows.header : '')
        const pieces = some.map((copied) => rows.csv(copied))
        await csv.write(Buffer.concat([header, ...pieces]))
      }
      isEmpty = false
    },
    async close(records: number): Promise<readonly ExportedFile[]> {
      const files: ExportedFile[] = []
      const written = await json.close()
      if (formats.includes('ndjson.zst')) files.push({ format: 'ndjson.zst', records, ...written })
      if (formats.includes('parquet')) {
        const made = await writeParquet(pathOf('ndjson.zst'), pathOf('parquet'), rows, signal)
        files.push({ format: 'parquet', records, ...made })
      }
      if (!formats.includes('ndjson.zst')) rmSync(pathOf('ndjson.zst'))
      if (csv !== undefined) files.push({ format: 'csv.zst', records, ...(await csv.close()) })
      return files
    },
    abandon(): void {
      json.abandon()
      csv?.abandon()
    },
  }
}
