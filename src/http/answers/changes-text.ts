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
  const written = changes.map(partsOf)
  const length = written.reduce((sum, { bytes }) => sum + bytes + 1, 0)
  const separators = changes.length === 0 ? 0 : -1
  const body = borrow(start.length + length + separators + end.length)
  let at = body.write(start, 'latin1')
  for (const parts of written) {
    if (at > start.length) at += body.write(separator, at, 'latin1')
    at = writeChange(body, at, parts, separator)
  }
  body.write(end, at, 'latin1')
  return body
}

/** A change, what is before and after each of its ids, and its length with separators between. */
interface Parts {
  readonly change: Change
  readonly before: string
  readonly after: string
  readonly bytes: number
}

function partsOf(change: Change): Parts {
  const { listing, companyId, version, kind, ids, lengths, texts } = change
  const ofCompany = companyId === undefined ? '' : `${companyId}${idMember}`
  const before = `{"resource":"${listing}","company_id":${ofCompany}`
  const after = `,"version":${version},"change":"${kind}","record":`
  // The closing brace, and the separator.
  let bytes = ids.length * (before.length + after.length + 2) - 1
  for (const id of ids) bytes += digitsOf(id)
  // A company's own id is its company_id, too.
  if (companyId === undefined) for (const id of ids) bytes += digitsOf(id) + idMember.length
  for (const length of lengths) bytes += texts === undefined ? nothing.length : length
  return { change, before, after, bytes }
}

const idMember = ',"id":'
const nothing = 'null'
const brace = 0x7d
const zero = 0x30

/** Writes changes, copying what is around their ids from the first one; returns where they end. */
function writeChange(body: Buffer, start: number, parts: Parts, separator: string): number {
  const { change, before, after } = parts
  const { ids, lengths, texts } = change
  const beforeAt = start
  let afterAt = 0
  let textAt = 0
  let at = start
  for (let n = 0; n < ids.length; n += 1) {
    if (n === 0) at += body.write(before, at, 'latin1')
    else {
      body[at++] = separator.charCodeAt(0)
      body.copyWithin(at, beforeAt, beforeAt + before.length)
      at += before.length
    }
    if (change.companyId === undefined) {
      at = writeInteger(body, at, ids[n] ?? 0)
      at += body.write(idMember, at, 'latin1')
    }
    at = writeInteger(body, at, ids[n] ?? 0)
    if (n === 0) {
      afterAt = at
      at += body.write(after, at, 'latin1')
    } else {
      body.copyWithin(at, afterAt, afterAt + after.length)
      at += after.length
    }
    const length = lengths[n] ?? 0
    if (texts === undefined) at += body.write(nothing, at, 'latin1')
    else body.set(texts.subarray(textAt, textAt + length), at)
    if (texts !== undefined) at += length
    // A comma is between them.
    textAt += length + 1
    body[at++] = brace
  }
  return at
}

/** How many digits a whole number has. */
function digitsOf(number: number): number {
  let digits = 1
  for (let least = 10; number >= least; least *= 10) digits += 1
  return digits
}

function writeInteger(body: Buffer, at: number, number: number): number {
  const end = at + digitsOf(number)
  let rest = number
  for (let place = end - 1; place >= at; place -= 1) {
    const tens = Math.floor(rest / 10)
    // The digit by itself: its sum with the greatest integers would not be exact.
    body[place] = zero + (rest - tens * 10)
    rest = tens
  }
  return end
}
