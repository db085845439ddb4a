// Records as bars from their least to their greatest amount, apart by unit: amounts of different
// currencies are not compared.

import { useMemo } from 'preact/hooks'
import { formatCount, plainText } from '../format.ts'
import { html } from '../html.ts'
import { fieldNamed, type ResourceDescription, type Row } from '../resources.ts'
import { texts } from '../texts.ts'
import { NumberAxis } from './axis.ts'
import { type Figures, Frame, within } from './frame.ts'
import { fitText, widestOf } from './labels.ts'
import type { SelectionProps } from './periods.ts'
import { niceStep, type Scale, scaleOf } from './scale.ts'

const rowHeight = 24
const headHeight = 26
const drawnMax = 200

interface Range {
  readonly id: unknown
  readonly label: string
  readonly unit: string
  readonly least: number
  readonly greatest: number
}

/** The ranges of one unit, lowest first. */
interface Unit {
  readonly unit: string
  readonly ranges: readonly Range[]
}

export function AmountsPicture({ selection: { rows }, resource, note }: SelectionProps) {
  const units = useMemo(() => unitsOf(rows, resource), [rows])
  if (units.length === 0) return html`<p class="empty">${texts.nothingToDraw}</p>`
  const known = units.reduce((sum, { ranges }) => sum + ranges.length, 0)
  const says = [
    ...units.map(({ unit, ranges }) => {
      const least = formatCount(Math.min(...ranges.map((one) => one.least)))
      const greatest = formatCount(Math.max(...ranges.map((one) => one.greatest)))
      return texts.amountsSays(formatCount(ranges.length), unit, least, greatest)
    }),
    rows.length > known ? texts.amountsNone(rows.length - known) : '',
    note,
  ]
  return html`<${Frame} title=${texts.pictureAmounts} says=${says.join(' ')} isLong
    figures=${figuresOf(units, resource)}>${(width: number) =>
      units.map((one) => html`<${UnitBars} key=${one.unit} ...${one} width=${width} />`)}<//>`
}

function unitsOf(rows: readonly Row[], resource: ResourceDescription): Unit[] {
  const { picture } = resource
  if (picture?.kind !== 'amounts') return []
  const text = (row: Row, name: string) => plainText(row[name], fieldNamed(resource, name))
  const ranges = rows.flatMap((row) => {
    const ends = [row[picture.least], row[picture.greatest]].filter((end) => end !== null)
    if (ends.length === 0) return []
    const amounts = ends.map(Number)
    const [least, greatest] = [Math.min(...amounts), Math.max(...amounts)]
    const unit = text(row, picture.unit)
    return [{ id: row['id'], label: text(row, picture.label), unit, least, greatest }]
  })
  return [...Map.groupBy(ranges, ({ unit }) => unit)]
    .map(([unit, some]) => ({
      unit,
      ranges: some.toSorted((a, b) => a.least - b.least || a.greatest - b.greatest),
    }))
    .toSorted((a, b) => b.ranges.length - a.ranges.length)
}

function UnitBars({ unit, ranges, width }: Unit & { readonly width: number }) {
  const left = within(width * 0.26, 110, 260)
  // Narrow pictures have no room for numbers beside the bars.
  const isNarrow = width < 420
  const greatest = Math.max(...ranges.map((one) => one.greatest))
  const least = Math.min(...ranges.map((one) => one.least))
  const step = niceStep((greatest - least) / 5)
  const [from, to] = [Math.floor(least / step) * step, Math.ceil(greatest / step) * step]
  const room = widestOf(ranges.map((one) => formatCount(one.greatest))) + 18
  const scale = scaleOf(from, to, left, width - (isNarrow ? 28 : room))
  const drawn = ranges.slice(0, drawnMax)
  const bottom = headHeight + drawn.length * rowHeight
  return html`<svg width=${width} height=${bottom + 8} role="img"
    aria-label=${`${texts.pictureAmounts}, ${unit}`}>
    <text class="unit" x="0" y="16">${unit}</text>
    <${NumberAxis} scale=${scale} width=${width} top=${headHeight - 6} bottom=${bottom}
      labelsAt=${16} />
    ${drawn.map(
      (range, n) => html`<${RangeBar} key=${range.id} range=${range} scale=${scale}
      left=${left} y=${headHeight + n * rowHeight} isNarrow=${isNarrow} />`,
    )}
  </svg>`
}

interface RangeBarProps {
  readonly range: Range
  readonly scale: Scale
  readonly left: number
  readonly y: number
  readonly isNarrow: boolean
}

function RangeBar({ range: { label, least, greatest }, scale, left, y, isNarrow }: RangeBarProps) {
  const x = scale.at(least)
  const end = scale.at(greatest)
  const isOne = least === greatest
  const amount = isOne ? formatCount(least) : `${formatCount(least)} – ${formatCount(greatest)}`
  const middle = y + rowHeight / 2
  return html`<g><title>${`${label}: ${amount}`}</title>
    <text class="label" x="0" y=${middle + 4}>${fitText(label, left - 8)}</text>
    ${
      isOne
        ? html`<circle class="dot" cx=${x} cy=${middle} r="5" />`
        : html`<rect class="bar" x=${x} y=${middle - 4} width=${Math.max(2, end - x)} height="8"
          rx="4" />`
    }
    ${!isNarrow && html`<text x=${end + 9} y=${middle + 4}>${formatCount(greatest)}</text>`}</g>`
}

function figuresOf(units: readonly Unit[], { title }: ResourceDescription): Figures {
  const rows = units.flatMap(({ unit, ranges }) =>
    ranges.map(({ label, least, greatest }) => [
      ...[label, unit, formatCount(least), formatCount(greatest)],
    ]),
  )
  return { head: [title, texts.unit, texts.least, texts.greatest], rows }
}
