// A row of a source. Expected bad input is data, not an exception: a refusal is the reason why a
// value, or a row, is not accepted.

/** A row as read from a source: one JSON object. */
export type SourceRow = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is SourceRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Why one value, or one record, is refused. */
export class Refusal {
  readonly reason: string
  /** The column of the value; undefined if the whole record is refused. */
  readonly field: string | undefined
  readonly value: unknown
  /** The line of the file in which the record begins, if that is not its number. */
  readonly line: number | undefined
  /** The other faults of the same record. */
  readonly also: readonly Refusal[]
  /** The record as far as it could be read, if it is not known elsewhere. */
  readonly row: unknown

  constructor(reason: string, field?: string, value?: unknown, more: MoreOfRefusal = {}) {
    this.reason = reason
    this.field = field
    this.value = value
    this.line = more.line
    this.also = more.also ?? []
    this.row = more.row ?? value ?? null
  }
}

/** A row of a source: its place, and its content, or why it cannot be read. */
export interface PlacedRow {
  /** The index of its file among the source's. */
  readonly file: number
  readonly number: number
  readonly row: SourceRow | Refusal
  /** Its bytes, if they are what `JSON.stringify` makes of the row; they are used only once. */
  readonly text?: Buffer | undefined
}

/** Some rows, which are parsed as they are taken. */
export type Rows = Iterable<PlacedRow>

interface MoreOfRefusal {
  readonly line?: number | undefined
  readonly also?: readonly Refusal[]
  readonly row?: unknown
}

/** How many faults of a row are reported. */
export const faultsMax = 20

/** One refusal for all refusals among the results of checks; there must be at least one. */
export function refuseForAll(results: readonly unknown[]): Refusal {
  const faults = results
    .filter((result) => result instanceof Refusal)
    .flatMap((fault) => [fault, ...fault.also])
  const [first, ...also] = faults.slice(0, faultsMax)
  if (first === undefined) throw new Error('a row without a fault is not refused')
  const { reason, field, value, line } = first
  return new Refusal(reason, field, value, { line, also })
}

/** What is wrong with a record. */
export interface Fault {
  readonly field?: string | undefined
  /** The value as JSON, truncated. */
  readonly value?: string | undefined
  readonly reason: string
}

/** A refused record as reported: its place, and its first fault. */
export interface Problem extends Fault {
  readonly file: string
  /** What `number` counts: lines of a text file, or records if a record may span lines. */
  readonly unit: 'line' | 'row'
  readonly number: number
  /** The line in which the record begins, if it is known and `number` counts rows. */
  readonly line?: number | undefined
  /** Its other faults. */
  readonly also?: readonly Fault[] | undefined
}

const valueLengthMax = 80

/** A value for a message: JSON, truncated to 80 characters. */
export function showValue(value: unknown): string {
  const start = typeof value === 'string' ? value.slice(0, valueLengthMax + 1) : value
  const shown = JSON.stringify(start)
  return shown.length > valueLengthMax ? `${shown.slice(0, valueLengthMax)}…` : shown
}

/** A problem as text, with all faults: `file: line 3: salary_from: 15.45: must be an integer`. */
export function describeProblem(problem: Problem, addition = ''): string {
  const { file, unit, number, line, also = [] } = problem
  const place = line === undefined ? `${unit} ${number}` : `${unit} ${number} (line ${line})`
  const faults = [problem, ...also].map(({ field, value, reason }) =>
    [field === '' ? '""' : field, value, reason].filter((part) => part).join(': '),
  )
  return `${file}: ${place}: ${faults.join('; ')}${addition}`
}
