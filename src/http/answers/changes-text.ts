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

/** What is around changes, in ASCII. */
interface Frame {
  readonly start: string
  readonly separator: string
  readonly end: string
}

function write(changes: readonly Change[], { start, separator, end }: Frame): Buffer {
  const most = changes.reduce((sum, { ids, texts }) => {
    return sum + ids.length * envelopeBytesMax + (texts?.length ?? 0)
  }, 0)
  const body = borrow(start.length + most + end.length)
  let at = body.write(start, 'latin1')
  for (const { listing, companyId, version, kind, ids, lengths, texts } of changes) {
    const after = `,"version":${version},"change":"${kind}","record":`
    let textAt = 0
    for (let n = 0; n < ids.length; n += 1) {
      const id = ids[n] ?? 0
      const before = at === start.length ? '' : separator
      const named = `${before}{"resource":"${listing}","company_id":${companyId ?? id},"id":${id}`
      at += body.write(named + after, at, 'latin1')
      const text = texts?.subarray(textAt, textAt + (lengths[n] ?? 0)) ?? nothing
      body.set(text, at)
      at += text.length
      // A comma is between them.
      textAt += text.length + 1
      body[at++] = brace
    }
  }
  return body.subarray(0, at + body.write(end, at, 'latin1'))
}

/** What is around the text of a change, at most: names of listings have 64 characters. */
const envelopeBytesMax = 256
const nothing = Buffer.from('null')
const brace = 0x7d
