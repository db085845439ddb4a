// Prints what `dossier import … --show N` shows.

import { describeProblem, showValue } from '../../files/refusal.ts'
import {
  type ShownColumn,
  type ShownRow,
  showRows,
  type ShowRequest,
} from '../../import/show-rows.ts'
import type { CommandContext, Input } from '../command.ts'
import { tableLines } from '../table.ts'

/** Shows the columns of the files, then their first rows as they would be imported. */
export async function printShown(
  request: Omit<ShowRequest, 'onColumns'>,
  { flags }: Input,
  { stdout }: CommandContext,
): Promise<void> {
  const isJson = flags.has('json')
  let columns: readonly ShownColumn[] = []
  const rows = await showRows({
    ...request,
    onColumns: (found) => {
      columns = found
      if (!isJson) stdout.writeLines(...columnLines(found, request.mapping !== undefined))
    },
  })
  if (isJson) return stdout.writeJson({ columns, rows })
  for (const { file, unit, number, row, nulls, refused } of rows) {
    const heading =
      refused === undefined ? `${file}: ${unit} ${number}` : describeProblem(refused, ' (refused)')
    stdout.writeLines('', heading, ...contentLines(row, nulls))
  }
  stdout.writeLines(
    '',
    ...(rows.length === 0 ? ['There are no rows.'] : []),
    ...(request.mapping === undefined && rows.some(hasCells) && rows.every(isRefused)
      ? ['Columns that have other names or forms need a mapping: --map FILE.sql']
      : []),
    'Nothing was imported.',
  )
}

/** Whether a row could be read, so that a mapping can change it. */
const hasCells = ({ row }: ShownRow) => typeof row === 'object' && row !== null

const isRefused = ({ refused }: ShownRow) => refused !== undefined

function columnLines(columns: readonly ShownColumn[], isMapped: boolean): string[] {
  const lines = tableLines(
    columns.map(({ name, values }) => [`  ${name}`, values.slice(0, 5).map(showValue).join('  ')]),
  )
  return [isMapped ? 'The view source has the columns' : 'The files have the columns', ...lines]
}

function contentLines(row: unknown, nulls: readonly string[] = []): string[] {
  // The text of a row that cannot be read is in its heading.
  if (typeof row !== 'object' || row === null) return []
  const cells = Object.entries(row).filter(([, value]) => value !== null)
  return tableLines([
    ...cells.map(([name, value]) => [`  ${name}`, showValue(value)]),
    ...nulls.map((name) => [`  ${name}`, 'null']),
  ])
}
