// Finds the row of the files at which a mapping fails: DuckDB tells the value, and not its row.

import { placeColumns } from '../../resources/resource.ts'
import { type Database, literal, quoted } from './database.ts'
import { faultyValueIn, type FaultyValue } from './explain-mapping.ts'

/** The line of a file in which its row of that number begins; undefined if that is not known. */
export type LineOf = (file: string, row: number) => Promise<number | undefined>

/** A shorter text may be in many cells by chance. */
const partLengthMin = 4

/**
 * The first row of the view `source` with the value at which a mapping has failed.
 *
 * @returns ` at row 2 (line 3) of x.csv`; empty if no row has it, since the mapping has made it.
 */
export async function findFaultyRow(
  database: Database,
  error: unknown,
  lineOf: LineOf,
): Promise<string> {
  const faulty = error instanceof Error ? faultyValueIn(error.message) : undefined
  if (faulty === undefined || faulty.value === '') return ''
  const isLong = faulty.value.length >= partLengthMin
  const place =
    (await findRow(database, faulty, isEqual)) ??
    (isLong ? await findRow(database, faulty, has) : undefined)
  if (place === undefined) return ''
  const { file, row } = place
  const line = await lineOf(file, row)
  return ` at row ${row}${line === undefined ? '' : ` (line ${line})`} of ${file}`
}

type Condition = (cell: string, value: string) => string
const isEqual: Condition = (cell, value) => `${cell} = ${value}`
const has: Condition = (cell, value) => `contains(${cell}, ${value})`

async function findRow(
  { connection, run }: Database,
  { value, column }: FaultyValue,
  condition: Condition,
): Promise<{ readonly file: string; readonly row: number } | undefined> {
  const described = await run(connection.runAndReadAll('describe source'))
  const names = described.getRows().map(([name]) => String(name))
  const own = names.filter((name) => !placeColumns.some((place) => place === name))
  const searched = column !== undefined && own.includes(column) ? [column] : own
  const conditions = searched.map((name) => condition(`${quoted(name)}::varchar`, literal(value)))
  const [fileColumn, rowColumn] = placeColumns
  const found = await run(
    connection.runAndReadAll(
      `select ${fileColumn}, ${rowColumn}::double from source
       where ${conditions.join(' or ')} limit 1`,
    ),
  )
  const [first] = found.getRows()
  return first && { file: String(first[0]), row: Number(first[1]) }
}
