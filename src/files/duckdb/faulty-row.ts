// Finds the row of the files at which a mapping fails: DuckDB reports the value, but not its row.

import { placeColumns } from '../../resources/resource.ts'
import { columnsOf, type Database, literal, quoted, rowsOf } from './database.ts'
import { faultyValueIn, type FaultyValue } from './explain-mapping.ts'
import { lineColumn } from './view.ts'

/** The view `source` with one more column: the line of its file in which a row begins. */
export const linesView = '"source with lines"'

/** A shorter text may be in many cells by chance. */
const partLengthMin = 4

/**
 * The first row of the view `source` with the value at which a mapping has failed.
 *
 * @returns ` at row 2 (line 3) of x.csv`; empty if no row has it, since the mapping made the value.
 */
export async function findFaultyRow(database: Database, error: unknown): Promise<string> {
  const faulty = error instanceof Error ? faultyValueIn(error.message) : undefined
  if (faulty === undefined || faulty.value === '') return ''
  const equal = await findRow(database, faulty, isEqual)
  if (equal !== '' || faulty.value.length < partLengthMin) return equal
  return findRow(database, faulty, has)
}

type Condition = (cell: string, value: string) => string
const isEqual: Condition = (cell, value) => `${cell} = ${value}`
const has: Condition = (cell, value) => `contains(${cell}, ${value})`

async function findRow(database: Database, { value, column }: FaultyValue, condition: Condition) {
  const names = (await columnsOf(database, 'select * from source')).map(({ name }) => name)
  const own = names.filter((name) => !placeColumns.some((place) => place === name))
  const searched = column !== undefined && own.includes(column) ? [column] : own
  const conditions = searched.map((name) => condition(`${quoted(name)}::varchar`, literal(value)))
  const [fileColumn, rowColumn] = placeColumns
  const [first] = await rowsOf(
    database,
    `select ${fileColumn}, ${rowColumn}::varchar, ${quoted(lineColumn)}::varchar
     from ${linesView} where ${conditions.join(' or ')} limit 1`,
  )
  if (first === undefined) return ''
  const [file, row, line] = first.map(String)
  return ` at row ${row}${first[2] === null ? '' : ` (line ${line})`} of ${file}`
}
