// The way of checked rows into the server: text for COPY, in pieces, with the server's pace.

import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Place, StagedRow } from '../importing.ts'
import type { Stage } from '../sql/import.ts'

const pieceLength = 1 << 16

const text = 'text collate "C"'

/** Temporary tables are the session's own, and gone with it. */
export const createStage = `
  create temp table stage (
    seq bigint not null,
    file integer not null, number bigint not null,
    company_id bigint, company_jurisdiction ${text}, company_identifier ${text},
    id bigint, key ${text}, sort ${text}, digest ${text},
    content ${text}, -- null for a row that was refused: it stands for its record, no more
    as_of ${text}
  )`

/** The stage, and what becomes of rows that are on their way when nobody wants them any more. */
interface OpenedStage {
  readonly stage: Stage
  /** No more rows come, and those that came do not count. */
  abandon(): Promise<void>
}

/** @param client has no other query to run until the stage has ended. */
export function openStage(client: Client): OpenedStage {
  // Rows go in in this form; see `copyLine`.
  const stream = client.query(copyFrom('copy stage from stdin'))
  let isOpen = true
  // The stream itself would wait for ever for a server that is gone.
  let failure: Error | undefined
  const failed = new Promise<never>((_, reject) => {
    const fail = (error: Error) => reject((failure ??= error))
    stream.on('error', fail)
    client.once('error', fail)
    client.once('end', () => fail(new Error('Connection terminated unexpectedly')))
  })
  failed.catch(() => undefined)
  let seq = 0
  let piece = ''

  function add(line: string): Promise<void> | undefined {
    piece += line
    return piece.length < pieceLength ? undefined : send()
  }

  async function send(): Promise<void> {
    if (failure !== undefined) throw failure
    const bytes = Buffer.from(piece)
    piece = ''
    const written = new Promise<void>((done) => stream.write(bytes, () => done()))
    await Promise.race([written, failed])
  }

  const stage: Stage = {
    write: (place, row) => add(copyLine((seq += 1), place, row)),
    writeRefused: (place, row) => {
      // Text that no PostgreSQL can hold is no name of anything that is stored there.
      const texts = [row.key, row.companyJurisdiction, row.companyIdentifier]
      if (texts.some((text) => text !== null && !isStorable(text))) return undefined
      const rest = { companyId: null, sort: null, digest: null, content: null, asOf: null }
      return add(copyLine((seq += 1), place, { ...rest, ...row }))
    },
    async end() {
      await send()
      isOpen = false
      const finished = new Promise<void>((done) => stream.end(done))
      await Promise.race([finished, failed])
      await client.query('create index on stage (seq); analyze stage')
    },
    async append(rows) {
      await insertStaged(client, seq, rows)
      seq += rows.length
    },
  }

  async function abandon(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    const closed = new Promise<void>((done) => stream.once('close', done))
    stream.destroy()
    await Promise.race([closed, failed]).catch(() => undefined)
  }

  return { stage, abandon }
}

type CopiedRow = Omit<StagedRow, 'sort' | 'digest' | 'content'> &
  Readonly<Record<'sort' | 'digest' | 'content', string | null>>

/** A row as COPY's text format has it: the columns of `stage`, tabs between, `\N` for null. */
function copyLine(seq: number, { file, number }: Place, row: CopiedRow): string {
  const company = row.companyId ?? '\\N'
  return (
    `${seq}\t${file}\t${number}\t${company}\t${copyText(row.companyJurisdiction)}\t` +
    `${copyText(row.companyIdentifier)}\t${row.id ?? '\\N'}\t${copyText(row.key)}\t` +
    `${copyText(row.sort)}\t${copyText(row.digest)}\t${copyText(row.content)}\t` +
    `${copyText(row.asOf)}\n`
  )
}

const special = /[\\\n\r\t]/
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

function copyText(text: string | null): string {
  if (text === null) return '\\N'
  if (!special.test(text)) return text
  return text.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? character)
}

// The columns of `stage` beside `file` and `number`: a record that the store makes itself has no
// place in a file.
const insertSql = `
  insert into stage select seq, 0, 0, company_id, company_jurisdiction, company_identifier,
    id, key, sort, digest, content, as_of
  from unnest(
    $1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[]
  ) row (
    seq, company_id, company_jurisdiction, company_identifier, id, key, sort, digest, content, as_of
  )`

/** Adds rows that the store has made itself, behind row `after`, when all others are in it. */
async function insertStaged(
  client: Client,
  after: number,
  rows: readonly StagedRow[],
): Promise<void> {
  if (rows.length === 0) return
  await client.query(insertSql, [
    rows.map((_, index) => after + index + 1),
    rows.map(({ companyId }) => companyId),
    rows.map(({ companyJurisdiction }) => companyJurisdiction),
    rows.map(({ companyIdentifier }) => companyIdentifier),
    rows.map(({ id }) => id),
    rows.map(({ key }) => key),
    rows.map(({ sort }) => sort),
    rows.map(({ digest }) => digest),
    rows.map(({ content }) => content),
    rows.map(({ asOf }) => asOf),
  ])
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
