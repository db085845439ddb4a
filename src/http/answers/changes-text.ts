// Changes as JSON and as NDJSON. Texts of records are copied as they are stored.

import type { Change, ChangesPage } from '../../store/changes.ts'

/** The cursors of a page. */
interface Cursors {
  readonly after: string
  readonly until: string
  readonly next: string | null
}

/** The body of a page. */
export function changesBody({ changes }: ChangesPage, { after, until, next }: Cursors): Buffer {
  const pieces = ['{"ok":true,"changes":[', ...piecesOf(changes, ',')]
  const cursor = next === null ? 'null' : `"${next}"`
  return join([...pieces, `],"after":"${after}","until":"${until}","next":${cursor}}`])
}

/** The changes of a page, one a line. */
export function changesLines({ changes }: Pick<ChangesPage, 'changes'>): Buffer {
  return join([...piecesOf(changes, '\n'), changes.length === 0 ? '' : '\n'])
}

type Piece = string | Uint8Array

function* piecesOf(changes: readonly Change[], separator: string): Generator<Piece> {
  let before = ''
  for (const { listing, companyId, id, version, kind, text } of changes) {
    yield (
      `${before}{"resource":"${listing}","company_id":${companyId},"id":${id},` +
        `"version":${version},"change":"${kind}","record":`
    )
    yield text ?? 'null'
    before = `}${separator}`
  }
  if (changes.length > 0) yield '}'
}

/** Texts that are not bytes yet are ASCII. */
function join(pieces: readonly Piece[]): Buffer {
  const body = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') body.write(piece, at, 'latin1')
    else body.set(piece, at)
    at += piece.length
  }
  return body
}
