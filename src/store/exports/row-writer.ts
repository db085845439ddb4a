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
  /** A JSON text. */
  readonly json: (change: Change) => string
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
    json: ({ companyId, text }) => `{"${companyColumn}":${companyId},${textOf(text).slice(1)}`,
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
  json: ({ text }) => textOf(text),
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

function textOf(text: Uint8Array | undefined): string {
  if (text === undefined) throw new Error('a record that is gone has no text')
  return Buffer.from(text.buffer, text.byteOffset, text.length).toString()
}
