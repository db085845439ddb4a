// Changes as JSON and as NDJSON. Texts of records are copied as they are stored.

import type { Change, ChangesPage } from '../../store/changes.ts'
import { borrow } from '../wire/body-memory.ts'

/** The cursors of a page. */
interface Cursors {
  readonly after: string
  readonly until: string
  readonly next: string | null
}

/** The body of a page. */
export function changesBody({ changes }: ChangesPage, { after, until, next }: Cursors): Buffer {
  const cursor = next === null ? 'null' : `"${next}"`
  return write(changes, {
    ...{ start: '{"ok":true,"changes":[', separator: ',' },
    end: `],"after":"${after}","until":"${until}","next":${cursor}}`,
  })
}

/** The changes of a page, one a line. */
export function changesLines({ changes }: Pick<ChangesPage, 'changes'>): Buffer {
  return write(changes, { start: '', separator: '\n', end: changes.length === 0 ? '' : '\n' })
}

/** What is around changes, in ASCII; the separator is one character. */
interface Frame {
  readonly start: string
  readonly separator: string
  readonly end: string
}

function write(changes: readonly Change[], { start, separator, end }: Frame): Buffer {
  let most = start.length + end.length
  for (const { ids, texts } of changes) most += ids.length * besidesMax + (texts?.length ?? 0)
  const body = borrow(most)
  let at = body.write(start, 'latin1')
  for (const [n, change] of changes.entries()) {
    if (n > 0) at += body.write(separator, at, 'latin1')
    at = writeChange(body, at, change, separator)
  }
  at += body.write(end, at, 'latin1')
  return body.subarray(0, at)
}

/** More than a record's change takes besides its text: two names and three whole numbers. */
const besidesMax = 300

/** Writes what has changed in a listing; returns where it ends. */
function writeChange(body: Buffer, start: number, change: Change, separator: string): number {
  const { listing, companyId, version, kind, ids, lengths, texts } = change
  const before = `{"resource":"${listing}","company_id":`
  const after = `,"version":${version},"change":"${kind}","record":`
  const source = texts && Buffer.from(texts.buffer, texts.byteOffset, texts.length)
  let textAt = 0
  let at = start
  for (let n = 0; n < ids.length; n += 1) {
    const id = ids[n] ?? 0
    // A company's own id is its company_id, too.
    const begin = `${n > 0 ? separator : ''}${before}${companyId ?? id},"id":${id}${after}`
    at += body.write(begin, at, 'latin1')
    const textEnd = textAt + (lengths[n] ?? 0)
    if (source === undefined) at += body.write('null', at, 'latin1')
    else at += source.copy(body, at, textAt, textEnd)
    // A comma is between them.
    textAt = textEnd + 1
    body[at++] = brace
  }
  return at
}

const brace = 0x7d
