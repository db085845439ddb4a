// The view `source` of a mapping: the rows of all files, with their places.

import { placeColumns } from '../../resources/resource.ts'
import { literal, quoted } from './database.ts'
import { type ColumnarFile, freeNames } from './tables.ts'

/** A column of a table. */
export interface Column {
  readonly name: string
  readonly isText: boolean
}

/** A file as a table in DuckDB's SQL. */
export interface FileTable {
  readonly file: ColumnarFile
  readonly table: string
  readonly columns: readonly Column[]
}

/** How texts are prepared for a mapping. */
export interface ViewTexts {
  /** Whether to remove the blanks around texts. */
  readonly isTrimmed: boolean
  /** Texts that are null. */
  readonly nulls: readonly string[]
}

// What String.prototype.trim removes.
const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a' +
  '\u2028\u2029\u202f\u205f\u3000\ufeff'

/** The SELECT of one file's part of the view. */
export function viewSelect(given: FileTable, texts: ViewTexts): string {
  const { file, table, columns } = given
  const { refusedColumn } = file
  // Rows count before those that are refused are left out.
  const placed = `select *, row_number() over () as ${rowNumber(given)} from ${table}`
  const names = ownNames(given)
  const cells = columns
    .filter(({ name }) => name !== refusedColumn)
    .map((column, index) => `${cell(column, texts)} as ${quoted(names[index] ?? '')}`)
  const [fileColumn, rowColumn] = placeColumns
  const where = refusedColumn === undefined ? '' : ` where ${quoted(refusedColumn)} is null`
  return `select ${cells.join(', ')}, ${literal(file.name)} as ${fileColumn},
    ${rowNumber(given)} as ${rowColumn} from (${placed})${where}`
}

/** The SELECT of a file's refused rows, with their numbers; undefined if all are sound. */
export function refusedSelect(given: FileTable): string | undefined {
  const { refusedColumn } = given.file
  if (refusedColumn === undefined) return undefined
  const placed = `select ${quoted(refusedColumn)} as refused, row_number() over () as number
    from ${given.table}`
  return `select number::double as number, refused from (${placed}) where refused is not null`
}

/** The names of a file's columns in the view: those like the place columns are renamed. */
function ownNames({ file, columns }: FileTable): string[] {
  const names = columns.map(({ name }) => name).filter((name) => name !== file.refusedColumn)
  return freeNames(names, placeColumns)
}

/** A name for the row number that no column has. */
function rowNumber({ columns }: FileTable): string {
  const names = columns.map(({ name }) => name)
  return quoted(freeNames([...names, 'row number']).at(-1) ?? '')
}

function cell({ name, isText }: Column, { isTrimmed, nulls }: ViewTexts): string {
  const column = quoted(name)
  if (!isText || (!isTrimmed && nulls.length === 0)) return column
  const text = isTrimmed ? `trim(${column}, ${literal(blanks)})` : column
  if (nulls.length === 0) return text
  return `case when ${text} in (${nulls.map(literal).join(', ')}) then null else ${text} end`
}
