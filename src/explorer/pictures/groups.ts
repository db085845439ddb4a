// How many records there are of each pair of two fields' values: a row and a column for each, with
// bars and numbers, so that no colour has to be told apart.

import { useMemo } from 'preact/hooks'
import { formatCount, plainText } from '../format.ts'
import { html } from '../html.ts'
import { fieldLabel, fieldNamed, type ResourceDescription, type Row } from '../resources.ts'
import { texts } from '../texts.ts'
import { Frame, within } from './frame.ts'
import { fitText, widestOf } from './labels.ts'
import type { SelectionProps } from './periods.ts'

const rowHeight = 30
const headHeight = 26
const rowsMax = 60
const columnsMax = 5
const numberGap = 6
const columnGap = 12
const barMin = 8

interface Groups {
  readonly by: string
  readonly columns: readonly string[]
  readonly rows: readonly Group[]
}

interface Group {
  readonly value: string
  readonly total: number
  /** In the order of the columns. */
  readonly counts: readonly number[]
}

export function GroupsPicture({ selection: { rows }, resource, note }: SelectionProps) {
  const groups = useMemo(() => groupsOf(rows, resource), [rows])
  const [most] = groups.rows
  if (most === undefined) return html`<p class="empty">${texts.nothingToDraw}</p>`
  const [count, groupCount] = [formatCount(rows.length), groups.rows.length]
  const says = [texts.groupsSays(count, groupCount, most.value, formatCount(most.total)), note]
  const byLabel = fieldLabel(resource, groups.by)
  const title = texts.pictureGroups(byLabel.toLowerCase())
  const figures = {
    head: [byLabel, ...groups.columns, texts.sum],
    rows: groups.rows.map(({ value, counts, total }) => [
      ...[value, ...[...counts, total].map(formatCount)],
    ]),
  }
  return html`<${Frame} title=${title} says=${says.join(' ')} figures=${figures} isLong>
    ${(width: number) => html`<${Matrix} groups=${groups} width=${width} title=${title} />`}<//>`
}

function groupsOf(records: readonly Row[], resource: ResourceDescription): Groups {
  const { picture } = resource
  if (picture?.kind !== 'groups') return { by: '', columns: [], rows: [] }
  const { by, across } = picture
  const textOf = (name: string) => (row: Row) => plainText(row[name], fieldNamed(resource, name))
  const byColumn = Map.groupBy(records, textOf(across))
  const columns = [...byColumn].toSorted(([, a], [, b]) => b.length - a.length).map(([key]) => key)
  const rows = [...Map.groupBy(records, textOf(by))]
    .map(([value, some]) => {
      const found = Map.groupBy(some, textOf(across))
      const counts = columns.map((column) => found.get(column)?.length ?? 0)
      return { value, total: some.length, counts }
    })
    .toSorted((a, b) => b.total - a.total)
  return { by, columns, rows }
}

interface MatrixProps {
  readonly groups: Groups
  readonly width: number
  readonly title: string
}

function Matrix({ groups: { columns, rows }, width, title }: MatrixProps) {
  const left = within(width * 0.26, 96, 240)
  const drawn = rows.slice(0, rowsMax)
  const most = Math.max(1, ...drawn.flatMap(({ counts }) => counts))
  // A column has room for the longest bar and its number; columns without room are in the table.
  const numberWidth = widestOf([formatCount(most)]) + numberGap
  const fitting = Math.floor((width - left) / (numberWidth + columnGap + barMin))
  const shown = columns.slice(0, Math.max(1, Math.min(columnsMax, fitting)))
  const step = (width - left) / shown.length
  const barWidth = (count: number) => (count / most) * (step - numberWidth - columnGap)
  return html`<svg width=${width} height=${headHeight + drawn.length * rowHeight} role="img"
    aria-label=${title}>
    ${shown.map(
      (column, n) => html`<text key=${column} x=${left + n * step} y="16">
        ${fitText(column, step - 8)}</text>`,
    )}
    ${drawn.map(({ value, counts }, row) => {
      const y = headHeight + row * rowHeight
      return html`<g key=${value}>
        <line class="grid" x1="0" x2=${width} y1=${y - 3.5} y2=${y - 3.5} />
        <text class="label" x="0" y=${y + 16}>${fitText(value, left - 10)}</text>
        ${counts.slice(0, shown.length).map((count, n) => {
          const x = left + n * step
          return html`<g key=${n}><rect class="bar" x=${x} y=${y + 4} rx="2" height="15"
            width=${barWidth(count)} /><text class=${count === 0 ? '' : 'label'}
            x=${x + barWidth(count) + numberGap} y=${y + 16}>${formatCount(count)}</text></g>`
        })}</g>`
    })}
  </svg>`
}
