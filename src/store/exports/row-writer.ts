// Records as rows of files: each with the id of its company, as imports take them.

import { createCsvWriter } from '../../resources/csv.ts'
import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import { latin1In, recordSeparator } from '../record-texts.ts'
import type { CopiedRecords } from './read-copy.ts'

/** The kind of a column; companies have one of JSON. */
export type ColumnKind = Field['kind'] | 'json'

/** How the rows of a resource, or companies, are written. */
export interface RowWriter {
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[]
  /** Lines of NDJSON, one character for each byte. */
  readonly json: (copied: CopiedRecords) => string
  /** The first line of CSV. */
  readonly header: string
  /** Lines of CSV. */
  readonly csv: (copied: CopiedRecords) => Buffer
}

const companyColumn = 'company_id'

export function recordRows(resource: Resource): RowWriter {
  const csv = createCsvWriter(Object.keys(resource.fields))
  const fields = Object.entries(resource.fields)
  return {
    columns: [
      { name: companyColumn, kind: 'id' },
      ...fields.map(([name, { kind }]) => ({ name, kind })),
    ],
    json({ companyId, texts }) {
      const begin = `{"${companyColumn}":${companyId},`
      const others = latin1In(texts).slice(1).replaceAll(recordSeparator, `\n${begin}${idMember}`)
      return `${begin}${others}\n`
    },
    header: `${companyColumn},${csv.header}`,
    csv: ({ companyId, texts }) => csv.rows(texts, `${companyId},`),
  }
}

/** What a record begins with, after its brace. */
const idMember = recordSeparator.slice(2)

/** Of a company without its listings. */
const companyKinds: Readonly<Record<string, ColumnKind>> = {
  id: 'id',
  jurisdiction: 'text',
  identifier: 'text',
  name: 'text',
  sources: 'json',
}
const companyCsv = createCsvWriter(Object.keys(companyKinds))

export const companyRows: RowWriter = {
  columns: Object.entries(companyKinds).map(([name, kind]) => ({ name, kind })),
  json: ({ texts }) => `${latin1In(texts)}\n`,
  header: companyCsv.header,
  csv: ({ texts }) => companyCsv.rows(texts),
}
