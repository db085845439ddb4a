// Hides people in texts about a company.

import { encodeAttributes } from '../companies/attribute-text.ts'
import { readAttributes } from '../companies/attributes.ts'
import { attributesShape, shapeOf } from '../listing/shape.ts'
import type { OrderKind } from './list.ts'
import { hideInAttributes, hideInChange } from './personal.ts'
import type { HidePhrases } from './phrases.ts'
import { type Change, collect, dropGoneIds, encodeRecord, parse, type Work } from './work.ts'

interface TextHiding {
  readonly companyId: number
  readonly hidePhrases: HidePhrases
  readonly kind: OrderKind
}

/** Hides people in a company's recorded changes, and in what sources say about it. */
export async function hideInTexts(
  work: Work,
  { companyId, hidePhrases, kind }: TextHiding,
): Promise<void> {
  for (const resource of work.resources) {
    if (resource.changeFields === undefined) continue
    const shape = shapeOf(resource)
    const change: Change = (record) => {
      const fields = parse(record)
      const hidden = hideInChange(resource, fields, { hidePhrases, isErased: kind === 'erase' })
      if (hidden === undefined || hidden === fields) return hidden && record
      return encodeRecord(shape, record, hidden, fields)
    }
    await dropGoneIds(work, await collect(work, { shape, companyId, change }))
  }
  const change: Change = (record) => {
    const attributes = parse(record)
    const hidden = hideInAttributes(attributes, hidePhrases)
    if (JSON.stringify(hidden) === JSON.stringify(attributes)) return record
    const { content, digest } = encodeAttributes(hidden)
    return { ...record, digest: Buffer.from(digest, 'base64'), text: Buffer.from(content) }
  }
  const changed = await collect(work, { shape: attributesShape, companyId, change })
  if (changed.length === 0) return
  const said = (await readAttributes(work.tables, [companyId])).get(companyId) ?? []
  await work.names.change(companyId, said)
}
