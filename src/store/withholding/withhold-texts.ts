// Hides people in what is said about a company: in its recorded changes, and by its sources.

import { encodeAttributes } from '../companies/attribute-text.ts'
import type { ColumnValue, ListedRecord } from '../listing/segment.ts'
import { isRecordingSource } from '../importing.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { digestBytesOf, digestOf, textIn } from '../record-texts.ts'
import type { Work } from './apply-order.ts'
import { hideKeys } from './hide-keys.ts'
import type { OrderKind, PhraseHash } from './list/entries.ts'
import { type Fields, hideInTexts } from './personal.ts'
import { createHidePhrases } from './phrases.ts'
import { type ListingRewrite, rewriteListing } from './rewrite.ts'

/**
 * Hides people in what is said about companies. A recorded change has one content in all its
 * listings, so other companies with the same change are looked through, too.
 */
export async function hideInCompanies(
  work: Work,
  companies: Iterable<number>,
  kind: OrderKind,
  phrases: readonly PhraseHash[],
): Promise<void> {
  if (phrases.length === 0) return
  const hidden = { kind, hidePhrases: createHidePhrases(phrases, work.hasher) }
  const recording = work.resources.filter(({ changeFields }) => changeFields !== undefined)
  const sources = await work.tables.sources()
  const seen = new Set(companies)
  for (let some = [...seen]; some.length > 0;) {
    const shared: Uint8Array[] = []
    for (const companyId of some) {
      for (const resource of [...recording, undefined]) {
        const shape = resource === undefined ? attributesShape : shapeOf(resource)
        const ids = new Set<number>()
        const change = changeFields(shape, (fields, { id, source, text }) => {
          const kept = hideInTexts(resource, fields, hidden)
          // A change that Dossier has recorded belongs to one company.
          const isAlone = isRecordingSource(sources.get(source)?.name ?? '')
          if (kept !== fields && resource !== undefined && !isAlone) {
            shared.push(text)
            ids.add(id)
          }
          return kept
        })
        await rewriteListing(work, { shape, companyId, change })
        await hideKeys(work, shape.listing, ids)
      }
    }
    work.onStep('withholding changes', 0)
    some = [...(await work.tables.companiesHolding(shared)).difference(seen)]
    for (const other of some) seen.add(other)
  }
}

/**
 * Creates a change of records by their fields.
 *
 * @param change returns the same fields to keep the record as it is; undefined to remove it.
 */
export function changeFields(
  shape: ListingShape,
  change: (fields: Fields, record: ListedRecord) => Fields | undefined,
): ListingRewrite['change'] {
  return (record) => {
    const before = JSON.parse(textIn(record.text)) as Fields
    const now = change(before, record)
    if (now === undefined || now === before) return now && record
    if (shape === attributesShape) {
      // The columns are of the statement, not of the attributes, which may have their names.
      const { content, digest } = encodeAttributes(now)
      return { ...record, digest: digestBytesOf(digest), text: Buffer.from(content) }
    }
    const { text, digest } = textOf(now, record.id)
    // The values of unchanged fields are kept.
    const values = shape.columns.map(({ field }, n) =>
      now[field] === before[field] ? (record.values[n] ?? null) : (now[field] as ColumnValue),
    )
    return { ...record, values, digest: digestBytesOf(digest), text: Buffer.from(text) }
  }
}

function textOf(fields: Fields, id: number) {
  const text = JSON.stringify(fields)
  return { text, digest: digestOf(`{${text.slice(`{"id":${id},`.length)}`) }
}
