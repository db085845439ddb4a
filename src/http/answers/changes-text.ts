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
  let at = start
  // What is around the first record of a change is a string; other records get copies of its bytes,
  // since strings and views for each record would keep the garbage collector busy.
  for (const { listing, companyId, version, kind, ids, lengths, texts } of changes) {
    // A company is its own record.
    const textOf = (id = 0) => (companyId === undefined ? `${id},"id":${id}` : String(id))
    const company = companyId === undefined ? '' : `${companyId},"id":`
    const before = `{"resource":"${listing}","company_id":${company}`
    const after = `,"version":${version},"change":"${kind}","record":`
    const beforeAt = at
    at += body.write(before + textOf(ids[0]) + after, at, 'latin1')
    const afterAt = at - after.length
    const whole = texts ?? nothing
    const several =
      ids.length > 1 && texts
        ? Buffer.from(texts.buffer, texts.byteOffset, texts.length)
        : undefined
    for (let [n, from] = [0, 0]; n < ids.length; n += 1) {
      if (n > 0) {
        body.copyWithin(at, beforeAt, beforeAt + before.length)
        at += before.length
        at += body.write(textOf(ids[n]), at, 'latin1')
        body.copyWithin(at, afterAt, afterAt + after.length)
        at += after.length
      }
      const to = from + (lengths[n] ?? 0)
      if (several === undefined) body.set(whole, at)
      at += several === undefined ? whole.length : several.copy(body, at, from, to)
      // A comma is between them.
      from = to + 1
      body[at++] = brace
      body[at++] = separator
    }
  }
  return at
}
