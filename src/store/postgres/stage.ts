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
  const fault = watchFaults(client)
  const copy = copyToStage(client, fault)
  let seq = 0
  const stage: Stage = {
    write: (place, row) => copy.add(copyLine((seq += 1), place, row)),
    writeRefused: (place, row) => {
      // Text that no PostgreSQL can hold is no name of anything that is stored there.
      const texts = [row.key, row.companyJurisdiction, row.companyIdentifier]
      if (texts.some((text) => text !== null && !isStorable(text))) return undefined
      const rest = { companyId: null, sort: null, digest: null, content: null, asOf: null }
      return copy.add(copyLine((seq += 1), place, { ...rest, ...row }))
    },
    async end() {
      await copy.end()
      await client.query('create index on stage (seq); analyze stage')
    },
    async append(rows) {
      if (rows.length === 0) return
      const more = copyToStage(client, fault)
      for (const row of rows) await more.add(copyLine((seq += 1), recordedPlace, row))
      await more.end()
    },
  }
  return { stage, abandon: () => copy.abandon() }
}

// A record that the store makes itself has no place in a file.
const recordedPlace: Place = { file: 0, number: 0 }

/** The first fault of a session: its streams would wait for ever for a server that is gone. */
interface Fault {
  error: Error | undefined
  readonly failed: Promise<never>
  readonly fail: (error: Error) => void
}

function watchFaults(client: Client): Fault {
  const { promise, reject } = Promise.withResolvers<never>()
  const fault: Fault = {
    error: undefined,
    failed: promise,
    fail: (error) => reject((fault.error ??= error)),
  }
  promise.catch(() => undefined)
  client.once('error', fault.fail)
  client.once('end', () => fault.fail(new Error('Connection terminated unexpectedly')))
  return fault
}

/** Begins a COPY of lines, in pieces, with the server's pace. */
function copyToStage(client: Client, fault: Fault) {
  const { failed } = fault
  const stream = client.query(copyFrom('copy stage from stdin'))
  stream.on('error', fault.fail)
  let isOpen = true
  let piece = ''

  async function send(): Promise<void> {
    if (fault.error !== undefined) throw fault.error
    const bytes = Buffer.from(piece)
    piece = ''
    const written = new Promise<void>((done) => stream.write(bytes, () => done()))
    await Promise.race([written, failed])
  }

  return {
    /** Gives a promise where the server has to be waited for. */
    add(line: string): Promise<void> | undefined {
      piece += line
      return piece.length < pieceLength ? undefined : send()
    },
    async end(): Promise<void> {
      await send()
      isOpen = false
      const finished = new Promise<void>((done) => stream.end(done))
      await Promise.race([finished, failed])
    },
    async abandon(): Promise<void> {
      if (!isOpen) return
      isOpen = false
      const closed = new Promise<void>((done) => stream.once('close', done))
      stream.destroy()
      await Promise.race([closed, failed]).catch(() => undefined)
    },
  }
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

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
