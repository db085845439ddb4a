// The view `source` of a mapping: the rows of all files, with their places.

import { placeColumns } from '../../resources/resource.ts'
import type { TextRules } from '../source-file.ts'
import { type Column, literal, quoted } from './database.ts'
import { numberColumn, type TableFile } from './table-file.ts'

/** A file as a table in DuckDB's SQL. */
export interface FileTable {
  readonly file: TableFile
  readonly table: string
  readonly columns: readonly Column[]
}

// What String.prototype.trim removes.
const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a' +
  '\u2028\u2029\u202f\u205f\u3000\ufeff'

/** The SELECT of one file's part of the view. */
export function viewSelect({ file, table, columns }: FileTable, texts: TextRules): string {
  const own = columns.filter(({ name }) => name !== numberColumn)
  // Members of objects have no order.
  if (file.kind === 'json') own.sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = freeNames(own.map(({ name }) => name))
  const cells = own.map((column, at) => `${cell(column, texts)} as ${quoted(names[at] ?? '')}`)
  const number = file.kind === 'parquet' ? 'row_number() over ()' : quoted(numberColumn)
  const [fileColumn, rowColumn] = placeColumns
  return `select ${cells.join(', ')}, ${literal(file.name)} as ${fileColumn},
    ${number} as ${rowColumn} from ${table}`
}

/** Columns named like the place columns, in any case, get other names: with `_1` etc. */
function freeNames(names: readonly string[]): string[] {
  const places: readonly string[] = placeColumns
  const used = new Set([...places, ...names.map((name) => name.toLowerCase())])
  return names.map((name) => {
    if (!places.includes(name.toLowerCase())) return name
    let n = 1
    while (used.has(`${name}_${n}`.toLowerCase())) n++
    return `${name}_${n}`
  })
}

function cell({ name, isText }: Column, { isTrimmed, nulls }: TextRules): string {
  const column = quoted(name)
  if (!isText || (!isTrimmed && nulls.length === 0)) return column
  const text = isTrimmed ? `trim(${column}, ${literal(blanks)})` : column
  if (nulls.length === 0) return text
  return `case when ${text} in (${nulls.map(literal).join(', ')}) then null else ${text} end`
}
