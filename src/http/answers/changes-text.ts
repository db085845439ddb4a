// Changes as JSON and as NDJSON. Texts of records are copied as they are stored.

import type { Change, ChangesPage } from '../../store/changes.ts'
import { borrow } from '../wire/body-memory.ts'

interface Cursors {
  readonly after: string
  readonly until: string
  readonly next: string | null
}

export function changesBody({ changes }: ChangesPage, { after, until, next }: Cursors): Buffer {
  const cursor = next === null ? 'null' : `"${next}"`
  const start = '{"ok":true,"changes":['
  const end = `],"after":"${after}","until":"${until}","next":${cursor}}`
  const body = borrow(start.length + bytesMaxOf(changes) + end.length)
  const at = write(changes, body, body.write(start, 'latin1'), comma)
  // The last comma is written over.
  const endAt = changes.length === 0 ? at : at - 1
  return body.subarray(0, endAt + body.write(end, endAt, 'latin1'))
}

export function changesLines({ changes }: Pick<ChangesPage, 'changes'>): Buffer {
  const lines = borrow(bytesMaxOf(changes))
  return lines.subarray(0, write(changes, lines, 0, lineEnd))
}

/** What is around the text of a change, at most, without the name of its listing. */
const envelopeBytesMax = 128
const nothing = Buffer.from('null')
const [comma, lineEnd, brace] = [0x2c, 0x0a, 0x7d]

function bytesMaxOf(changes: readonly Change[]): number {
  return changes.reduce((sum, { listing, ids, texts }) => {
    return sum + ids.length * (envelopeBytesMax + listing.length) + (texts?.length ?? 0)
  }, 0)
}

/** Writes changes at a place, each with a separator after it; returns where they end. */
function write(changes: readonly Change[], body: Buffer, start: number, separator: number): number {
  // One long string is written in a third of the time of many short ones. It is written at the end
  // of the body, from where its parts are moved.
  const ends: number[] = []
  let envelopes = ''
  for (const { listing, companyId, version, kind, ids } of changes) {
    const before = `{"resource":"${listing}","company_id":`
    const after = `,"version":${version},"change":"${kind}","record":`
    for (const id of ids) {
      envelopes += `${before}${companyId ?? id},"id":${id}${after}`
      ends.push(envelopes.length)
    }
  }
  const envelopesAt = body.length - envelopes.length
  body.write(envelopes, envelopesAt, 'latin1')
  let [at, from, n] = [start, envelopesAt, 0]
  for (const { lengths, texts } of changes) {
    let textAt = 0
    for (const length of lengths) {
      const end = envelopesAt + (ends[n++] ?? 0)
      body.copyWithin(at, from, end)
      at += end - from
      from = end
      const text = texts?.subarray(textAt, textAt + length) ?? nothing
      body.set(text, at)
      at += text.length
      // A comma is between them.
      textAt += text.length + 1
      body[at++] = brace
      body[at++] = separator
    }
  }
  return at
}
