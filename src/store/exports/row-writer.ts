// Changed records as rows of files: each with the id of its company, as imports take them.

import { createCsvWriter } from '../../resources/csv.ts'
import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Change } from '../changes.ts'

/** The kind of a column; companies have one of JSON. */
export type ColumnKind = Field['kind'] | 'json'

/** How the rows of a resource, or companies, are written. */
export interface RowWriter {
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[]
  /** A JSON text: what comes before the bytes of the record, and those. */
  readonly json: (change: Change) => readonly [before: string, bytes: Uint8Array]
  /** The first line of CSV. */
  readonly header: string
  /** A line of CSV. */
  readonly csv: (change: Change) => string
}

const companyColumn = 'company_id'

export function recordRows(resource: Resource): RowWriter {
  const csv = createCsvWriter(resource)
  const fields = Object.entries(resource.fields)
  return {
    columns: [
      { name: companyColumn, kind: 'id' },
      ...fields.map(([name, { kind }]) => ({ name, kind })),
    ],
    json: ({ companyId, text }) => [`{"${companyColumn}":${companyId},`, bytesOf(text).subarray(1)],
    header: `${companyColumn},${csv.header}`,
    csv: ({ companyId, text }) => `${companyId},${csv.rows(textOf(text))}`,
  }
}

/** A company without its listings. */
type CompanyText = Readonly<Record<string, unknown>>

const companyKinds = {
  ...{ id: 'id', jurisdiction: 'text', identifier: 'text', name: 'text', sources: 'json' },
} as const satisfies Readonly<Record<string, ColumnKind>>

export const companyRows: RowWriter = {
  columns: Object.entries(companyKinds).map(([name, kind]) => ({ name, kind })),
  json: ({ text }) => ['', bytesOf(text)],
  header: `${Object.keys(companyKinds).join()}\r\n`,
  csv({ text }) {
    const company = JSON.parse(textOf(text)) as CompanyText
    return `${Object.keys(companyKinds)
      .map((name) => cellOf(company[name]))
      .join()}\r\n`
  },
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `"${text.replaceAll('"', '""')}"`
}

/** The lines of NDJSON of some changes. What comes before a record is ASCII. */
export function linesOf({ json }: RowWriter, changes: readonly Change[]): Buffer {
  const pieces = changes.map(json)
  const length = pieces.reduce((sum, [before, bytes]) => sum + before.length + bytes.length + 1, 0)
  const lines = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const [before, bytes] of pieces) {
    at += lines.write(before, at, 'latin1')
    lines.set(bytes, at)
    at += bytes.length
    lines[at++] = lineFeed
  }
  return lines
}

const lineFeed = 0x0a

function bytesOf(text: Uint8Array | undefined): Uint8Array {
  if (text === undefined) throw new Error('a record that is gone has no text')
  return text
}

function textOf(text: Uint8Array | undefined): string {
  const { buffer, byteOffset, length } = bytesOf(text)
  return Buffer.from(buffer, byteOffset, length).toString()
}
