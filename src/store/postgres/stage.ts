// Sends checked rows to the server: text for COPY, in pieces, at the server's pace.

import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Place, StagedRow } from '../importing.ts'
import { filterNames, type Stage } from '../sql/stage.ts'
import { text } from './text.ts'

const pieceLength = 1 << 16

/** Temporary tables belong to the session, and are dropped with it. */
export const createStage = (filters: number) => `
  create temp table stage (${stageColumns(filters)})`

/** The columns of staged rows. */
export const stageColumns = (filters: number) => `
    seq bigint not null,
    file integer not null, number bigint not null,
    company_id bigint, company_jurisdiction ${text}, company_identifier ${text},
    id bigint, key ${text}, sort ${text}, digest ${text},
    content ${text}, -- null for a refused row, which only identifies its record
    as_of ${text}
    ${filterNames(filters)
      .map((name) => `, ${name} ${text}`)
      .join('')}`

// The columns that rows are searched and grouped by; of the others, samples would cost more.
const analysed = 'seq, company_id, company_jurisdiction, company_identifier, id, key'

/** A stage, and how to abandon it. */
interface OpenedStage {
  readonly stage: Stage
  /** The number of rows so far. */
  rows(): number
  /** Stops the COPY; rows already sent do not count. */
  abandon(): Promise<void>
}

/** The tables to which rows are copied, if those that arrive are kept apart from appended ones. */
export interface StageTables {
  /** Has a further column: by what rows are spread, the name or the id of the company. */
  readonly arrived: string
  readonly appended: string
}

/** @param client must not run other queries until the stage has ended. */
export function openStage(client: Client, filterCount: number, spread?: StageTables): OpenedStage {
  const fault = watchFaults(client)
  const copy = copyToStage(client, fault, spread?.arrived ?? 'stage')
  let seq = 0
  const line = (place: Place, row: CopiedRow) => {
    const values = copyLine((seq += 1), place, row, filterCount)
    return spread === undefined ? `${values}\n` : `${values}\t${copyText(spreadBy(row))}\n`
  }
  const stage: Stage = {
    write: (place, row) => copy.add(line(place, row)),
    writeRefused: (place, row) => {
      // PostgreSQL cannot store such text, so no stored record can have it in its identity.
      const texts = [row.key, row.companyJurisdiction, row.companyIdentifier]
      if (texts.some((text) => text !== null && !isStorable(text))) return undefined
      return copy.add(line(place, { ...unchecked, ...row }))
    },
    async end() {
      await copy.end()
      if (spread !== undefined) return
      await client.query(`create index on stage (seq); analyze stage (${analysed})`)
    },
    async append(rows) {
      if (rows.length === 0) return
      const more = copyToStage(client, fault, spread?.appended ?? 'stage')
      for (const row of rows) {
        await more.add(`${copyLine((seq += 1), recordedPlace, row, filterCount)}\n`)
      }
      await more.end()
    },
  }
  return { stage, rows: () => seq, abandon: () => copy.abandon() }
}

/** What a refused row lacks. */
const unchecked = {
  companyId: null,
  sort: null,
  digest: null,
  content: null,
  asOf: null,
  filters: [],
} as const

// Records made by the store have no place in a file.
const recordedPlace: Place = { file: 0, number: 0 }

/** The first fault of a session; its streams would wait forever for a server that is gone. */
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

/** Starts a COPY of lines, sent in pieces at the server's pace. */
function copyToStage(client: Client, fault: Fault, table: string) {
  const { failed } = fault
  const stream = client.query(copyFrom(`copy ${table} from stdin`))
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
    /** Returns a promise only if the caller has to wait for the server. */
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

/** Rows with a company's name are spread by its identifier. */
function spreadBy({ companyIdentifier, companyId, key }: CopiedRow): string {
  return companyIdentifier ?? String(companyId ?? key)
}

/** A row in COPY's text format: the columns of `stage`, separated by tabs, `\N` for null. */
function copyLine(
  seq: number,
  { file, number }: Place,
  row: CopiedRow,
  filterCount: number,
): string {
  const company = row.companyId ?? '\\N'
  return (
    `${seq}\t${file}\t${number}\t${company}\t${copyText(row.companyJurisdiction)}\t` +
    `${copyText(row.companyIdentifier)}\t${row.id ?? '\\N'}\t${copyText(row.key)}\t` +
    `${copyText(row.sort)}\t${copyText(row.digest)}\t${copyText(row.content)}\t` +
    `${copyText(row.asOf)}${copyFilters(row.filters, filterCount)}`
  )
}

function copyFilters(filters: CopiedRow['filters'], count: number): string {
  let texts = ''
  for (let n = 0; n < count; n++) {
    const value = filters[n] ?? null
    texts += `\t${typeof value === 'number' ? value : copyText(value)}`
  }
  return texts
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
