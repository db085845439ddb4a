// Explains DuckDB's errors in a mapping in an operator's words.

import { isMisspelling } from '../../text/nearest.ts'
import { looksLikeData } from '../check-columns.ts'

const leaveAsText = 'leave dates and numbers as text, which Dossier checks'

/** DuckDB's messages about a value that it cannot convert; `$1` is the value. */
const conversions: readonly (readonly [says: RegExp, means: string])[] = [
  [
    /Could not convert string ['"](.{0,200}?)['"] to (\w{1,40})/,
    `it cannot convert "$1" to $2; ${leaveAsText}`,
  ],
  [
    /Could not parse string "([^"]{0,200})" according to format specifier "([^"]{0,100})"/,
    'it cannot read "$1" as "$2"; try_strptime() gives null instead',
  ],
  [
    /(?:date|time|timestamp) field (?:value out of range|format): "([^"]{0,200})"/,
    `it cannot convert "$1" to a date; ${leaveAsText}`,
  ],
  [
    /Malformed JSON at byte \d{1,9} of input: .{0,100} {2}Input: "([^"]{0,200})"/,
    'it takes "$1" for JSON, which it is not; use only what is: case when ' +
      'json_valid("column") then … end',
  ],
]

/** DuckDB's messages, and what they mean; `$1` etc. are the parts that it names. */
const meanings: readonly (readonly [says: RegExp, means: string])[] = [
  [
    /Referenced column "([A-Z]{2,3})" not found/,
    'it names the column $1, which the source does not have; if $1 is a text, it takes single ' +
      "quotes: '$1'",
  ],
  [
    /Referenced column "([^"]{1,200})" not found/,
    'it names the column $1, which the source does not have',
  ],
  [
    /Column "([^"]{1,200})" referenced that exists in the SELECT clause/,
    'it names the column $1, which the source does not have',
  ],
  [/Column "([^"]{1,200})" in EXCLUDE list/, 'it excludes the column $1, which is not there'],
  [
    /Values list "([^"]{1,200})" does not have a column named "([^"]{1,200})"/,
    'it names the column $2, which $1 does not have',
  ],
  [/Function with name (\S{1,100}) does not exist/, 'it calls $1(), which does not exist'],
  [
    /UNNEST\(\) can only be applied to lists/,
    `it calls unnest() for a text; a list in JSON is one: unnest(from_json("names", '["json"]'))`,
  ],
  ...conversions,
  [
    /No function matches the given name and argument types '([^']{1,200})'/,
    'it calls $1, which does not take values of these types; cast them',
  ],
  [
    /column "([^"]{1,60})" must appear in the GROUP BY/,
    'the column $1 has several values in a group: add it to group by, or write any_value("$1")',
  ],
]

/**
 * Explains an error of DuckDB in a mapping.
 *
 * @param lines its message, in trimmed lines.
 * @param facts those of the lines that state the fault.
 * @param columns those of its files; none if unknown.
 */
export function explainMapping(
  lines: readonly string[],
  facts: string,
  columns: readonly string[],
): string {
  const text = lines.join('\n')
  let what = withoutClass(facts)
  for (const [says, means] of meanings) {
    const found = says.exec(text)
    if (found !== null) {
      what = means.replace(/\$(\d)/g, (_, n: string) => found[Number(n)] ?? '')
      break
    }
  }
  const missing = isMissing.exec(what)
  if (missing !== null && columns.length > 0) {
    const [named = '', name = '', more = ''] = missing
    what = named + adviseColumn(name, columns, more)
  } else {
    const near = /(?:Candidate bindings: |Did you mean )"([^"]{1,200})"/.exec(text)?.[1]
    if (near !== undefined && !what.includes('single quotes')) what += `; did you mean ${near}?`
  }
  return `the mapping fails${placeOf(lines)}: ${what}`
}

const isMissing = /^it names the column (.{1,200}), which the source does not have(?=(;.{0,200})?$)/

const columnsShown = 20

/** The column that may be meant, or the existing ones. */
function adviseColumn(name: string, columns: readonly string[], more: string): string {
  const shown = columns.slice(0, columnsShown).map((column) => column.slice(0, 40))
  const there = `; it has ${shown.join(', ')}${columns.length > columnsShown ? ', …' : ''}`
  if (columns.some(looksLikeData)) {
    return (
      `${there}, which looks like a row: the header is missing (name its columns with ` +
      '--columns), or --skip-lines skips it'
    )
  }
  const near = columns.find((column) => isMisspelling(name, column))
  if (near !== undefined) return `; did you mean ${near}?`
  return more === '' ? there : more
}

/** A message of DuckDB without the name of its kind of error. */
export function withoutClass(message: string): string {
  return message.replace(/^(?:[A-Z][\w-]{0,30} ){1,4}Error: /, '')
}

/** The line of the mapping; a line of our own SQL would not help. */
function placeOf(lines: readonly string[]): string {
  const line = lines.find((one) => /^LINE \d/.test(one) && !/\bread_\w{1,40}\(/.test(one))
  const number = /^LINE (\d{1,7})/.exec(line ?? '')?.[1]
  return number === undefined ? '' : ` in line ${number}`
}
