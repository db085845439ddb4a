// The files of a resource in a copy, one after another, in all formats.

import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from '../changes.ts'
import { type CompressedFile, openCompressed } from './compressed-file.ts'
import type { ExportedFile, ExportedResource, ExportFormat } from './manifest.ts'
import { linesOf, type RowWriter } from './row-writer.ts'
import { writeParquet } from './write-parquet.ts'

/** Where files are written, and how. */
export interface OutputOptions {
  readonly formats: readonly ExportFormat[]
  readonly partial: string
  /** How many records a file has at most. */
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
  let [number, records, companies, company] = [0, 0, 0, 0]

  async function close(): Promise<void> {
    if (open !== undefined) files.push(...(await open.close()))
    open = undefined
  }

  async function write(some: readonly Change[]): Promise<void> {
    open ??= openFiles(`${name}-${(number += 1)}`, rows, options)
    const lines = linesOf(rows, some)
    digest.update(lines)
    await open.write(lines, some)
    records += some.length
    for (const { companyId } of some) {
      if (companyId !== company) companies += 1
      company = companyId
    }
    if (open.records() === recordsMax) await close()
  }

  return {
    async add(changes: readonly Change[]): Promise<void> {
      for (let at = 0; at < changes.length;) {
        const some = changes.slice(at, at + recordsMax - (open?.records() ?? 0))
        await write(some)
        at += some.length
      }
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

/** The same records in all formats. NDJSON is written in any case: Parquet is made of it. */
function openFiles(name: string, rows: RowWriter, { formats, partial, signal }: OutputOptions) {
  const pathOf = (format: ExportFormat) => join(partial, `${name}.${format}`)
  const json = openCompressed(pathOf('ndjson.zst'))
  const csv: CompressedFile | undefined = formats.includes('csv.zst')
    ? openCompressed(pathOf('csv.zst'))
    : undefined
  let records = 0
  return {
    records: () => records,
    async write(lines: Buffer, some: readonly Change[]): Promise<void> {
      await json.write(lines)
      const header = records === 0 ? rows.header : ''
      await csv?.write(header + some.map((change) => rows.csv(change)).join(''))
      records += some.length
    },
    async close(): Promise<readonly ExportedFile[]> {
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
