// Finds other companies whose recorded changes have the words of people whom an order withholds.
// They are only named: nothing tells whether these changes are about the same people.

import { isRecordingSource } from '../importing.ts'
import { shapeOf } from '../listing/shape.ts'
import type { CompanyRow } from '../listing/tables.ts'
import { textIn } from '../record-texts.ts'
import { numberIn } from '../sql/database.ts'
import type { Applied, Course, Work } from './apply-order.ts'
import { type Fields, hideInTexts } from './personal.ts'
import { createHidePhrases, phrasesOf } from './phrases.ts'
import { allRecords } from './rewrite.ts'

/** As many as one reading of all segments searches for. */
const textsMax = 100

/**
 * Finds such companies once an order is done. Only a prune makes that necessary: before it, past
 * listings tell whom companies have had. It takes about as long as a search for a value.
 */
export async function findSameWords(
  { db, resources, hasher }: Pick<Work, 'db' | 'resources' | 'hasher'>,
  { values, found: { phrases } }: Applied,
  { signal, onStep }: Course,
): Promise<readonly CompanyRow[]> {
  const { tables } = db
  const isPruned = (await numberIn(db, 'select past_from from store')) > 0
  const sources = await tables.sources()
  const isRecorded = (source: number) => isRecordingSource(sources.get(source)?.name ?? '')
  if (!isPruned || phrases.length === 0 || ![...sources.keys()].some(isRecorded)) return []
  const said = [...values].filter((value) => phrasesOf([value], hasher).length > 0)
  const texts = said.flatMap(formsOf).slice(0, textsMax)
  onStep?.('searching other companies', 0)
  const hidePhrases = createHidePhrases(phrases, hasher)
  const holding = await tables.companiesHolding(texts.map((text) => Buffer.from(text)))
  const companies = new Set<number>()
  for (const resource of resources.filter(({ changeFields }) => changeFields !== undefined)) {
    for await (const { companyId, record } of allRecords(tables, shapeOf(resource), holding)) {
      signal?.throwIfAborted()
      if (!isRecorded(record.source)) continue
      const text = textIn(record.text)
      // Hashing the words of all changes would take too long.
      if (!texts.some((one) => text.includes(one))) continue
      const fields = JSON.parse(text) as Fields
      const hidden = hideInTexts(resource, fields, { kind: 'mask', hidePhrases })
      if (hidden !== fields) companies.add(companyId)
    }
  }
  return [...(await tables.companiesById([...companies]))].sort((a, b) => a.id - b.id)
}

/** A value as a text in JSON has it; its accents may be encoded in several forms. */
function formsOf(value: string): string[] {
  const forms = new Set([value, value.normalize('NFC'), value.normalize('NFD')])
  return Array.from(forms, (form) => JSON.stringify(form).slice(1, -1))
}
