// The options of an import that set how its files are read.

import { UsageError } from '../../config/settings.ts'
import { likeNames } from '../../files/check-columns.ts'
import { encodingNamed, encodings, type Encoding } from '../../files/encoding.ts'
import { type FileOptions, type Format, formats, type SourceFile } from '../../files/source-file.ts'
import type { Command, Input } from '../command.ts'
import { parseChoice, parseNumber } from '../option-values.ts'

export const fileOptions: Command['options'] = {
  '--format FORMAT': `the format, if the file names do not show it: ${formats.join(', ')}`,
  '--encoding NAME': `the encoding of the text (default: utf-8): ${encodings.join(', ')}`,
  '--delimiter CHARACTER':
    'the character between cells of CSV, or tab (default: whichever of , ; tab and | is most ' +
    'frequent in the first line)',
  '--no-quotes': 'in CSV, treat quotes as ordinary characters, not as marks around cells',
  '--skip-lines N': 'skip N lines before the header of CSV, such as a title',
  '--columns NAMES': 'the names of the columns of CSV without a header, in order: id,status,name',
  '--records PATH': 'the array of rows in a JSON object: features, or data.items',
  '--null TEXT…': 'a text that means no value, such as NULL; repeatable',
  '--trim': 'strip the blanks around all texts',
}

const linesMax = 1_000_000

/** Parses these options. @throws UsageError if one is invalid. */
export function parseFileOptions({ options, flags }: Input): FileOptions {
  const { format, records, 'skip-lines': lines } = options
  if (records === '') throw new UsageError('--records is empty; it takes a path such as data.items')
  return {
    format: format === undefined ? undefined : parseChoice('format', format, formats),
    encoding: parseEncoding(options['encoding']),
    delimiter: parseDelimiter(options['delimiter']),
    hasQuotes: !flags.has('no-quotes'),
    skippedLines: lines === undefined ? undefined : parseNumber('skip-lines', lines, 0, linesMax),
    columns: parseColumns(options['columns']),
    records,
  }
}

/** @throws UsageError if an option applies to none of the files. */
export function refuseUnusedOptions(files: readonly SourceFile[], { options, flags }: Input): void {
  const found = new Set(files.map(({ format }) => format))
  const uses: readonly (readonly [option: string, formats: readonly Format[]])[] = [
    ['delimiter', ['csv', 'tsv']],
    ['no-quotes', ['csv', 'tsv']],
    ['skip-lines', ['csv', 'tsv']],
    ['columns', ['csv', 'tsv']],
    ['records', ['json']],
    ['encoding', ['ndjson', 'json', 'csv', 'tsv']],
  ]
  for (const [option, formats] of uses) {
    const isGiven = options[option] !== undefined || flags.has(option)
    if (!isGiven || formats.some((format) => found.has(format))) continue
    throw new UsageError(
      `--${option} applies to ${formats.join(', ')}, but the files are ${[...found].join(', ')}`,
    )
  }
}

function parseEncoding(word: string | undefined): Encoding | undefined {
  if (word === undefined) return undefined
  return encodingNamed(word) ?? parseChoice('encoding', word, encodings)
}

function parseColumns(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  const columns = text.split(',').map((column) => column.trim())
  const like = likeNames(columns)
  if (like === undefined && !columns.includes('')) return columns
  const what = columns.includes('') ? 'has a column without a name' : `names ${like?.[0]} twice`
  throw new UsageError(`--columns ${what}; it takes names such as id,status,name`)
}

function parseDelimiter(word: string | undefined): string | undefined {
  if (word === undefined) return undefined
  if (word === 'tab' || word === '\\t') return '\t'
  if (word.length === 1 && word > '\0' && word < '\x80' && !/["\r\n ]/.test(word)) return word
  throw new UsageError(
    `--delimiter is ${JSON.stringify(word)}; it must be tab or one ASCII character, other than a ` +
      "quote or a blank; quote it for the shell: --delimiter ';'",
  )
}
