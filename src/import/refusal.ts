// Expected bad input is data, not an exception: a refusal says why a value is not accepted.

/** Why one value, or one record, is refused. */
export class Refusal {
  readonly reason: string
  /** The column of the value; undefined if the whole record is refused. */
  readonly field: string | undefined
  readonly value: unknown
  /** The line of the file in which the record begins, if its number is another one. */
  readonly line: number | undefined

  constructor(reason: string, field?: string, value?: unknown, line?: number) {
    this.reason = reason
    this.field = field
    this.value = value
    this.line = line
  }
}

/** A refused record as reported: its place, the value, and the reason. */
export interface Problem {
  readonly file: string
  /** What `number` counts: lines of a text file, or records if a record may span lines. */
  readonly unit: 'line' | 'row'
  readonly number: number
  /** The line in which the record begins, if it is known and `number` counts rows. */
  readonly line?: number
  readonly field?: string
  /** The value as JSON, truncated. */
  readonly value?: string
  readonly reason: string
}

const valueLengthMax = 80

/** A value for a message: JSON, truncated to 80 characters. */
export function showValue(value: unknown): string {
  const start = typeof value === 'string' ? value.slice(0, valueLengthMax + 1) : value
  const shown = JSON.stringify(start)
  return shown.length > valueLengthMax ? `${shown.slice(0, valueLengthMax)}…` : shown
}

/** A problem as text: `file: line 3: salary_from: 15.45: must be an integer`. */
export function describeProblem(problem: Problem, addition = ''): string {
  const { file, unit, number, line, field, value, reason } = problem
  const place = line === undefined ? `${unit} ${number}` : `${unit} ${number} (line ${line})`
  const text = [file, place, field, value, reason].filter((part) => part).join(': ')
  return text + addition
}
