// What the columns of a source contain over all of its rows: mistakes that no single row shows.

import { formatCount } from '../../text/format-count.ts'
import {
  type PlacedRow,
  type Problem,
  Refusal,
  showValue,
  type SourceRow,
} from '../../files/refusal.ts'
import { isCsv, linesIn } from '../../files/csv-record.ts'
import { readTwice } from '../../files/encoding-guess.ts'
import { attributeText } from '../../store/companies/attribute-text.ts'
import type { RowRequest } from './check-rows.ts'
import { normaliseTimestamp, otherDay } from './timestamp.ts'

/** What a report shows of one column. */
type ColumnFacts = ReturnType<typeof newFacts>

const newFacts = (name: string) => ({
  name,
  /** The rows in which it has a value. */
  count: 0,
  first: null as unknown,
  hasOne: true,
  /** Whether a value is not blank. */
  isUsed: false,
  /** The number of rows with a text that programs write for no value, and the first such text. */
  nulls: 0,
  firstNull: '',
})

export type Columns = ReturnType<typeof collectColumns>

/** How many columns are looked at; only JSON can have more. */
const columnsMax = 10_000
/** A few rows may well agree by chance. */
const fewRows = 5
/** How many texts are checked for UTF-8 that was read as another encoding. */
const triedTexts = 100_000
const longestLength = 1_000
const mostLines = 5

/** Texts that databases and programs write where there is no value. */
const nullTexts = new Set('NULL null Null n/a N/A - NaN nan None <NA> \\N undefined'.split(' '))
/** An error of a cell, in the language of the spreadsheet: #N/A, #NV, #N/D, #REF!, #¿NOMBRE?. */
const cellError = /^#(?:NV|\p{Lu}\/\p{Lu}!?|[¡¿]?[\p{Lu}/0]+[!?])$/u
const nullLengthMax = 10
// Looking up a text takes longer than checking its first character.
const firstOfNulls = new Set([...nullTexts, '#'].map((text) => text.charCodeAt(0)))

/** A timestamp with a zone that is not UTC. */
const zoned = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,16} ?[+-]\d\d:?\d{0,2}$/
const hyphen = 0x2d
const replacement = '\ufffd'
const letterZ = 0x5a

/** What the columns of an import contain. */
export function collectColumns(request: RowRequest, unit: Problem['unit']) {
  const { nulls } = request.texts
  const isMapped = request.mapping !== undefined
  const columns: ColumnFacts[] = []
  const byName = new Map<string, ColumnFacts>()
  const texts = lookAtTexts(request, unit)
  let rows = 0

  function find(name: string): ColumnFacts | undefined {
    const known = byName.get(name)
    if (known !== undefined || columns.length === columnsMax) return known
    const added = newFacts(name)
    columns.push(added)
    byName.set(name, added)
    return added
  }

  return {
    /** Takes a row as it was read, before it is checked. */
    note(row: SourceRow, placed: PlacedRow): void {
      rows += 1
      let at = 0
      for (const name in row) {
        const value = row[name]
        // Most rows have the same columns in the same order.
        const guess = columns[at]
        at += 1
        const facts = guess?.name === name ? guess : find(name)
        if (facts === undefined || value === null || value === undefined || value === '') continue
        facts.count += 1
        if (!facts.isUsed) facts.isUsed = attributeText(value) !== null
        if (facts.count === 1) facts.first = value
        else if (facts.hasOne && value !== facts.first) facts.hasOne = false
        if (typeof value === 'string') texts.note(facts, value, placed)
      }
    },
    /** All columns. */
    all: () => columns.map(({ name }) => name),
    /** The columns with values, in the order of their first ones. */
    names: () => columns.filter(({ isUsed }) => isUsed).map(({ name }) => name),
    /** The columns with one value in all rows, if there are more than a few rows. */
    same: () =>
      columns
        .filter(({ hasOne, count }) => hasOne && count === rows && rows > fewRows)
        .map(({ name, first }) => ({ name, value: showValue(first) })),
    /** What is probably a mistake, a sentence each. */
    warnings(): readonly string[] {
      const own = columns.filter((one) => one.count === rows && rows > 1 && isItsName(one))
      const nullLike = columns.filter((one) => one.nulls > 0)
      const isJudged = isMapped && rows > fewRows
      const unused = isJudged ? columns.filter((one) => !one.isUsed) : []
      return [
        ...unused.map(hasNoValue),
        ...own.map((one) => itsName(one, rows)),
        ...nullLike.map((one) => nullsTold(one, nulls)),
        ...texts.warnings(),
      ]
    },
  }
}

const isItsName = ({ name, first, hasOne }: ColumnFacts) =>
  hasOne && typeof first === 'string' && first.toLowerCase() === name.toLowerCase()

/** Looks at texts one by one, and keeps the first fault of a kind. */
function lookAtTexts({ files, target, mapping, texts }: RowRequest, unit: Problem['unit']) {
  const { nulls } = texts
  const isMapped = mapping !== undefined
  // A quote in CSV may swallow lines; the attributes of companies are not checked as dates.
  const mayHaveQuotes = files.some(isCsv)
  const areCompanies = target.resource === undefined
  const placeOf = ({ file, number }: PlacedRow) => `${files[file]?.name ?? ''}: ${unit} ${number}`
  const isSuspect = (text: string) =>
    (nullTexts.has(text) || cellError.test(text)) && (isMapped || !nulls.includes(text))
  const told = ({ name }: ColumnFacts, placed: PlacedRow, text: string) =>
    `${placeOf(placed)}: ${name} is ${showValue(text)}`
  let tried = 0
  let twice: string | undefined
  let lost: string | undefined
  let long: string | undefined
  let shifted: string | undefined
  let unreal: string | undefined
  return {
    note(facts: ColumnFacts, text: string, placed: PlacedRow): void {
      const { length } = text
      if (length <= nullLengthMax && firstOfNulls.has(text.charCodeAt(0)) && isSuspect(text)) {
        if (facts.nulls === 0) facts.firstNull = text
        facts.nulls += 1
      }
      if (mayHaveQuotes && long === undefined && length > longestLength) {
        const lines = linesIn(text)
        if (lines > mostLines) long = longCell(facts.name, placeOf(placed), lines)
      }
      if (shifted === undefined && mayBeZoned(text) && zoned.test(text)) {
        const utc = normaliseTimestamp(text, 'seconds')
        if (typeof utc === 'string' && otherDay(text, utc)) {
          shifted = shiftedDay(told(facts, placed, text), utc)
        }
      }
      if (areCompanies && unreal === undefined && isUnrealDay(text)) {
        unreal = unrealDay(told(facts, placed, text))
      }
      if (tried === triedTexts || (twice !== undefined && lost !== undefined)) return
      tried += 1
      const better = twice === undefined ? readTwice(text) : undefined
      if (better !== undefined) twice = twiceRead(facts.name, placeOf(placed), text, better)
      const at = lost === undefined ? text.indexOf(replacement) : -1
      if (at >= 0) lost = lostCharacter(told(facts, placed, text.slice(Math.max(0, at - 20))))
    },
    warnings: () => [long, twice, lost, shifted, unreal].filter((warning) => warning !== undefined),
  }
}

/** Checking two characters takes less time than searching for the pattern. */
function mayBeZoned(text: string): boolean {
  return text.charCodeAt(4) === hyphen && text.charCodeAt(text.length - 1) !== letterZ
}

/** A day that no calendar has; registers write 00 for a month or day that they do not know. */
function isUnrealDay(text: string): boolean {
  const isDay = text.length === 10 && text.charCodeAt(4) === hyphen && day.test(text)
  return isDay && normaliseTimestamp(text, 'seconds') instanceof Refusal
}

const day = /^\d{4}-(?!00)\d\d-(?!00)\d\d$/

const unrealDay = (told: string) =>
  `${told}, a day that does not exist; which are its month and its day in the file?`

function nullsTold(facts: ColumnFacts, given: readonly string[]): string {
  const { name, nulls, firstNull } = facts
  const rows = nulls === 1 ? '1 row' : `${formatCount(nulls)} rows`
  const text = JSON.stringify(firstNull)
  const advice = given.includes(firstNull)
    ? `write nullif(…, '${firstNull}') in the mapping: --null is for whole cells of the files`
    : `add --null '${firstNull}'`
  return `${name} is ${text} or similar in ${rows}; if that means no value, ${advice}`
}

function itsName({ name, first }: ColumnFacts, rows: number): string {
  return (
    `${name} is ${showValue(first)} in all ${formatCount(rows)} rows; in a mapping, a column of ` +
    `the source has no quotes or double ones: "${showValue(first).slice(1, -1)}" as ${name}`
  )
}

const hasNoValue = ({ name }: ColumnFacts) =>
  `${name}, which the mapping returns, has no value in any row; is it misspelt there? ` +
  'Check with --show'

const longCell = (name: string, place: string, lines: number) =>
  `${place}: ${name} has ${formatCount(lines)} lines; is a quote before it unclosed? ` +
  'Check with --show'

const shiftedDay = (told: string, utc: string) =>
  `${told}, which is on ${utc.slice(0, 10)} in UTC; if the day matters, leave out time and zone, ` +
  'in the file or in a mapping'

const lostCharacter = (told: string) =>
  `${told}, where ${replacement} stands for a character that was lost when the file was ` +
  'converted; get it again, in its own encoding (--encoding)'

function twiceRead(name: string, place: string, text: string, better: string): string {
  // Where the two differ may be far from the beginning.
  const start = Math.max(0, text.search(/[\x80-\uffff]/) - 20)
  const [read, meant] = [text, better].map((whole) => showValue(whole.slice(start)))
  return (
    `${place}: ${name} is ${read}, which is ${meant} if it is UTF-8 that was read as another ` +
    'encoding; get a correct file or, if all of it is so, convert it: ' +
    'iconv -f UTF-8 -t WINDOWS-1252'
  )
}
