// How many records there are of each year, with a row for each value instead of a colour.

import { useMemo, useState } from 'preact/hooks'
import { formatCount, plainText, within } from '../format.ts'
import { html } from '../html.ts'
import { fieldLabel, fieldNamed, type ResourceDescription, type Row } from '../resources.ts'
import { texts } from '../texts.ts'
import { Frame, pointIn, whenLeft } from './frame.ts'
import { fitText, placeLabels } from './labels.ts'
import type { SelectionProps } from './periods.ts'

/** How many values have a row of their own; the others share one. */
const valuesMax = 12
const rowHeight = 46
const labelHeight = 20

/** Wider bars would be walls. */
const barWidthMax = 48
const yearWidth = 44
/** Between the years that are named. */
const yearSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

/** The height of the bars of a number of values, in pixels, with the years below them. */
export const yearsHeight = (count: number): number =>
  Math.min(count, valuesMax + 1) * rowHeight + labelHeight

interface Years {
  readonly first: number
  readonly last: number
  readonly undated: number
  /** By value, most first, the others last: the counts of records in each year from `first` on. */
  readonly rows: readonly { readonly value: string; readonly counts: readonly number[] }[]
}

/** A bar: the row, and the year. */
interface Pointed {
  readonly row: number
  readonly column: number
}

export function YearsPicture({ selection, resource, note }: SelectionProps) {
  const years = useMemo(() => yearsOf(selection.rows, resource), [selection])
  const [pointed, setPointed] = useState<Pointed>({ row: -1, column: -1 })
  const { rows, first, last } = years
  const what = fieldLabel(resource, fieldOf(resource))
  const title = texts.pictureYears(what)
  if (rows.length === 0)
    return html`<${Frame} title=${title} says=${`${texts.undrawn(what)} ${note}`} />`
  const span = last - first + 1
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
      event.key
    ]
    if (step === undefined) return
    event.preventDefault()
    const [down = 0, right = 0] = step
    setPointed({
      row: within(pointed.row + down, 0, rows.length - 1),
      column: within(pointed.column + right, 0, span - 1),
    })
  }
  const said = rows[pointed.row]
  const column = pointed.column
  const readout =
    said === undefined || column < 0 || column >= span
      ? html`<span class="hint keys">${texts.pictureKeys}</span>`
      : html`<strong>
        ${first + column}, ${said.value}:</strong> ${formatCount(said.counts[column] ?? 0)}`
  return html`<${Frame} title=${title} says=${saysOf(years, note, resource)} readout=${readout}
    figures=${figuresOf(years)} onKeyDown=${onKeyDown}>${(width: number) => html`<${Rows}
      years=${years} width=${width} pointed=${pointed} onPoint=${setPointed} />`}<//>`
}

function fieldOf({ picture }: ResourceDescription): string {
  return picture?.kind === 'years' ? picture.moment : ''
}

function yearsOf(records: readonly Row[], resource: ResourceDescription): Years {
  const { picture } = resource
  const none = { first: 0, last: -1, undated: records.length, rows: [] }
  if (picture?.kind !== 'years') return none
  const dated = records
    .map((row) => ({
      year: new Date(String(row[picture.moment])).getUTCFullYear(),
      value: plainText(row[picture.by], fieldNamed(resource, picture.by)),
    }))
    .filter(({ year }) => !Number.isNaN(year))
  if (dated.length === 0) return none
  const first = dated.reduce((least, { year }) => Math.min(least, year), Infinity)
  const last = dated.reduce((most, { year }) => Math.max(most, year), -Infinity)
  const groups = [...Map.groupBy(dated, ({ value }) => value)].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  const others = groups.slice(valuesMax)
  const shared = [texts.yearsOthers(others.length), others.flatMap(([, some]) => some)] as const
  const shown = [...groups.slice(0, valuesMax), ...(others.length > 0 ? [shared] : [])]
  const rows = shown.map(([value, some]) => {
    const counts = Array.from({ length: last - first + 1 }, () => 0)
    for (const { year } of some) counts[year - first] = (counts[year - first] ?? 0) + 1
    return { value, counts }
  })
  return { first, last, undated: records.length - dated.length, rows }
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)

function saysOf(
  { rows, first, last, undated }: Years,
  note: string,
  { title }: ResourceDescription,
): string {
  const byYear = Array.from({ length: last - first + 1 }, (_, n) =>
    sumOf(rows.map(({ counts }) => counts[n] ?? 0)),
  )
  const most = Math.max(...byYear)
  const year = String(first + byYear.indexOf(most))
  const said = texts.yearsSays(
    ...([texts.counted(sumOf(byYear), title), String(first), String(last)] as const),
    ...([year, formatCount(most)] as const),
  )
  return [said, undated > 0 ? texts.yearsUndated(undated) : '', note].join(' ')
}

interface RowsProps {
  readonly years: Years
  readonly width: number
  readonly pointed: Pointed
  readonly onPoint: (pointed: Pointed) => void
}

function Rows({ years: { rows, first, last }, width, pointed, onPoint }: RowsProps) {
  const left = within(width * 0.18, 84, 150)
  const span = last - first + 1
  const step = (width - left - 4) / span
  const tallest = Math.max(...rows.map(({ counts }) => Math.max(...counts)))
  const bottom = rows.length * rowHeight
  const barWidth = within(step - 2, 1, barWidthMax)
  const middleOf = (column: number) => left + (column + 0.5) * step
  const labelled = yearSteps.find((years) => years * step >= yearWidth) ?? 2_000
  const years = Array.from({ length: span }, (_, n) => ({ label: first + n, x: middleOf(n) }))
    .filter(({ label }) => label % labelled === 0)
    .map(({ label, x }) => ({ label: String(label), x }))
  const onPointerMove = (event: PointerEvent) => {
    const { x, y } = pointIn(event)
    const column = Math.floor((x - left) / step)
    onPoint({ row: Math.floor(y / rowHeight), column: column < span ? column : -1 })
  }
  return html`<svg width=${width} height=${yearsHeight(rows.length)} onPointerMove=${onPointerMove}
    onPointerDown=${onPointerMove}
    onPointerLeave=${whenLeft(() => onPoint({ row: -1, column: -1 }))}>
    ${rows.map(({ value, counts }, row) => {
      const foot = (row + 1) * rowHeight - 4
      return html`<g key=${value}>
        <text class="label" x="0" y=${foot - 4}>${fitText(value, left - 8)}</text>
        <line class="grid" x1=${left} x2=${width} y1=${foot + 0.5} y2=${foot + 0.5} />
        ${counts.map((count, n) => {
          if (count === 0) return null
          const height = (count / tallest) * (rowHeight - 10)
          const isOn = pointed.row === row && pointed.column === n
          return html`<rect key=${n} class=${isOn ? 'bar on' : 'bar'}
            x=${middleOf(n) - barWidth / 2} y=${foot - height} width=${barWidth}
            height=${height} />`
        })}</g>`
    })}
    ${placeLabels(years, width).map(
      ({ label, x }) => html`<text key=${label} x=${x} y=${bottom + labelHeight - 5}
        text-anchor="middle">${label}</text>`,
    )}
  </svg>`
}

/** The figures of the years that have records. */
function figuresOf({ rows, first, last }: Years) {
  const years = Array.from({ length: last - first + 1 }, (_, n) => {
    const counts = rows.map((row) => row.counts[n] ?? 0)
    return { year: String(first + n), counts, sum: sumOf(counts) }
  })
  return {
    head: [texts.year, ...rows.map(({ value }) => value), texts.sum],
    rows: years.filter(({ sum }) => sum > 0).map(({ year, counts, sum }) => [year, ...counts, sum]),
  }
}
