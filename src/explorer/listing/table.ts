// Records as a table: one row each, ordered by a click on a column. On narrow screens each row
// becomes a card; the roles keep it a table for screen readers.

import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { Cell, IsWhole, LongText } from './cell.ts'
import type { Differences } from '../versions/differences.ts'
import { isMoment, plainText } from '../format.ts'
import { html } from '../html.ts'
import {
  type FieldDescription,
  fieldNamed,
  type ResourceDescription,
  type Row,
} from '../resources.ts'
import { isRestoring } from '../scroll.ts'
import { Scroller } from './scroller.ts'
import { texts } from '../texts.ts'

/** A table with more rows scrolls under its header. */
const shortMax = 25
/** How many rows are rendered at a time. */
const sliceLength = 100

interface TableProps {
  readonly resource: ResourceDescription
  readonly rows: readonly Row[]
  readonly caption: string
  /** Such as `-name`; null for the usual order. */
  readonly sort: string | null
  readonly onSort: ((sort: string | undefined) => void) | undefined
  /** How the rows differ from now. */
  readonly differences?: Differences | undefined
}

export function RecordTable({ resource, rows, caption, sort, onSort, differences }: TableProps) {
  // The same list as long as it is, so that no row is rendered again in vain.
  const [same, fields] = useMemo(() => {
    const found = sameFields({ resource, rows, sort, differences })
    return [found, resource.fields.filter((field) => !found.includes(field))]
  }, [resource, rows, sort, differences])
  const className = useMemo(() => classOf(rows.length), [rows])
  return html`
    ${same.length > 0 && html`<${Same} fields=${same} row=${rows[0]} />`}
    <${Scroller} className=${className} label=${caption} content=${rows}>
      <table class="records" role="table">
        <caption class="unseen">${caption}</caption>
        <thead role="rowgroup"><tr role="row">${fields.map(
          (field) =>
            html`<${Head} key=${field.name} field=${field} resource=${resource} sort=${sort}
              onSort=${onSort} />`,
        )}</tr></thead>
        <${Rows} rows=${rows} fields=${fields} differences=${differences} />
      </table>
    <//>`
}

function classOf(length: number): string {
  // Where readers were before is known only if the heights of all cards are.
  if (length > sliceLength && !isRestoring()) return 'long many'
  return length > shortMax ? 'long' : ''
}

/** Fields with the same value in all rows, also now; it is shown once, above the table. */
function sameFields({
  resource: { fields },
  rows,
  sort,
  differences,
}: Pick<TableProps, 'resource' | 'rows' | 'sort' | 'differences'>): readonly FieldDescription[] {
  if (rows.length < 3) return []
  const [first] = rows
  const others = new Set(differences?.changed.flatMap((one) => one.fields))
  return fields.filter(({ name, isTitle, filter }) => {
    if (isTitle || name === sort?.replace('-', '') || filter === 'range') return false
    if (others.has(name)) return false
    const text = JSON.stringify(first?.[name])
    return text.length < 200 && rows.every((row) => JSON.stringify(row[name]) === text)
  })
}

function Same({
  fields,
  row,
}: {
  readonly fields: readonly FieldDescription[]
  readonly row: Row
}) {
  return html`<dl class="same"><div class="same-title"><dt>${texts.sameInAll}</dt><dd></dd></div>
    ${fields.map(
      (field) => html`<div key=${field.name}><dt title=${field.description}>${field.label}</dt>
      <dd><${Cell} value=${row[field.name]} field=${field} /></dd></div>`,
    )}</dl>`
}

function alignOf(field: FieldDescription): string {
  if (isMoment(field)) return 'moment'
  return field.kind === 'integer' || field.kind === 'id' ? 'number' : 'words'
}

function Head({
  field,
  resource,
  sort,
  onSort,
}: Pick<TableProps, 'resource' | 'sort' | 'onSort'> & { readonly field: FieldDescription }) {
  const { name, label, isSortable, description } = field
  const usual = resource.order
  const usualSort = `${usual.direction === 'descending' ? '-' : ''}${usual.by}`
  const present = sort ?? (fieldNamed(resource, usual.by)?.isSortable ? usualSort : '')
  const isUp = present === name
  const isDown = present === `-${name}`
  const ordered = isUp ? 'ascending' : isDown ? 'descending' : undefined
  if (!isSortable || onSort === undefined) {
    return html`<th scope="col" role="columnheader" class=${alignOf(field)} title=${description}>
      ${label}</th>`
  }
  const next = isUp ? `-${name}` : isDown && sort !== null ? undefined : name
  return html`<th scope="col" role="columnheader" class=${alignOf(field)} aria-sort=${ordered}>
    <button type="button" class="sort" title=${`${description}. ${texts.sortBy(label)}`}
      onClick=${() => onSort(next)}>
      ${label}<svg viewBox="0 0 8 12" width="8" height="12" aria-hidden="true">
        <path class=${isUp ? 'on' : ''} d="M1 5l3-4 3 4z" /><path class=${isDown ? 'on' : ''}
          d="M1 7l3 4 3-4z" />
      </svg>
    </button></th>`
}

interface RowsProps {
  readonly rows: readonly Row[]
  readonly fields: readonly FieldDescription[]
  readonly differences: Differences | undefined
}

/** Rows, some in each frame: a thousand at once would keep the page from answering its reader. */
function Rows(props: RowsProps) {
  const { rows } = props
  const isWhole = useContext(IsWhole)
  const [{ of, count }, setShown] = useState({ of: rows, count: sliceLength })
  const shown = isWhole ? rows.length : of === rows ? count : sliceLength
  const isComplete = shown >= rows.length
  useEffect(() => {
    if (!isComplete) setShown({ of: rows, count: shown + sliceLength })
  }, [rows, shown, isComplete])
  const slices = []
  for (let from = 0; from < Math.min(shown, rows.length); from += sliceLength) {
    slices.push(html`<${Slice} key=${from} ...${props} from=${from} />`)
  }
  return html`<tbody role="rowgroup" aria-busy=${!isComplete}>${slices}</tbody>`
}

/** Rows that are rendered together, and again only if they change. */
function Slice({ rows, fields, differences, from }: RowsProps & { readonly from: number }) {
  return useMemo(
    () =>
      rows.slice(from, from + sliceLength).map(
        (row) =>
          html`<${RecordRow} key=${row['id']} row=${row} fields=${fields}
            differences=${differences} />`,
      ),
    [rows, fields, differences, from],
  )
}

function RecordRow({
  row,
  fields,
  differences,
}: {
  readonly row: Row
  readonly fields: readonly FieldDescription[]
  readonly differences: Differences | undefined
}) {
  const id = row['id']
  const isGone = differences?.removed.some((one) => one['id'] === id) ?? false
  const later = differences?.changed.find((one) => one.before['id'] === id)?.after
  const state = isGone ? 'gone' : later === undefined ? '' : 'changed'
  return html`<tr role="row" class=${state}>${fields.map((field) => {
    const { name, isTitle } = field
    const isOther = later !== undefined && JSON.stringify(later[name]) !== JSON.stringify(row[name])
    const content = html`<${Cell} value=${row[name]} field=${field} />${
      isOther &&
      html`<span class="was-now"><span class="badge">${texts.now}</span>${' '}
        <${LongText} text=${plainText(later[name], field)} /></span>`
    }${
      isTitle &&
      state !== '' &&
      html` <span class="badge">
      ${isGone ? texts.goneSince : texts.changedSince}</span>`
    }`
    const attributes = { class: alignOf(field), 'data-label': field.label }
    return isTitle
      ? html`<th scope="row" role="rowheader" key=${name} ...${attributes}>${content}</th>`
      : html`<td role="cell" key=${name} ...${attributes}>${content}</td>`
  })}</tr>`
}
