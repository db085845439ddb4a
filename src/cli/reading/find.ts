// `dossier find`: finds companies by words of their names or by their number, as clients do.

import { UsageError } from '../../config/settings.ts'
import { formatCount } from '../../text/format-count.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { wordsOfQuery } from '../../store/companies/name-words.ts'
import { openStoreForShowing } from '../../store/open-store.ts'
import type { FoundCompany } from '../../store/reading.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { type Command, print } from '../command.ts'
import { oneLine, tableLines } from '../table.ts'
import { companyIn } from '../option-values.ts'
import { storeOf } from '../progress.ts'

/** How many companies are printed for people. */
const shownMax = 50

export const find: Command = {
  summary: 'find companies by name or number',
  synopsis: ['find WORDS|NUMBER [--jurisdiction CODE] [--json]'],
  details: `
Finds the companies with all of the words in their name; the last one may be the beginning of a
word. A single word is also looked up as a number, in every register or in that of --jurisdiction.
A register number may name its register, too: GB:09876543, or GB 09876543.

  dossier find northwind tra
  dossier find 09876543 --jurisdiction GB`,
  options: {
    '--jurisdiction CODE': 'only companies of this jurisdiction',
    '--json': 'print all of them as JSON',
  },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { words, options } = input
    if (words.join('').trim() === '') {
      throw new UsageError('find takes words of a name, or a number')
    }
    const { jurisdiction } = options
    await using reader = await openStoreForShowing(storeOf(input, context))
    const found = await findBoth(reader, words, jurisdiction)
    if (found.length === 0) throw nothingFound(words, jurisdiction)
    print(input, context, found, lines(found))
    return 0
  },
}

/** The companies with the number, then those with the words. */
async function findBoth(
  reader: StoreReader,
  words: readonly string[],
  jurisdiction: string | undefined,
): Promise<readonly FoundCompany[]> {
  const numbered = await findNumbered(reader, words, jurisdiction)
  const asked = wordsOfQuery(words.join(' '))
  const { companies: named } =
    asked.length === 0 ? { companies: [] } : await reader.findCompanies({ words: asked })
  if (named === undefined) {
    if (numbered.length > 0) return numbered
    throw new OperatorError('more than 1,000 names match; add another word')
  }
  const known = new Set(numbered.map(({ id }) => id))
  const others = named.filter(
    (one) =>
      !known.has(one.id) && (jurisdiction === undefined || one.jurisdiction === jurisdiction),
  )
  return [...numbered, ...others]
}

/** The companies with a number, in one register if it is given with that. */
async function findNumbered(
  reader: StoreReader,
  words: readonly string[],
  jurisdiction: string | undefined,
): Promise<readonly FoundCompany[]> {
  const text = words.join(' ')
  const named = companyIn(words)
  const [register, number = text] = typeof named === 'object' ? named : []
  const identifiers = [...new Set([text, number])]
  const { companies = [] } = await reader.findCompanies({ identifiers, jurisdiction })
  return companies.filter(
    (one) =>
      one.identifier === text || (one.jurisdiction === register && one.identifier === number),
  )
}

function nothingFound(words: readonly string[], jurisdiction: string | undefined): OperatorError {
  const where = jurisdiction === undefined ? '' : ` of ${jurisdiction}`
  const said = words.join(' ')
  const advice = /\d/.test(said)
    ? 'write a number as its register does, with all zeros'
    : 'try fewer letters or, if names are in another column: dossier import … --name-attribute'
  return new OperatorError(
    `no company${where} has the name or number ${JSON.stringify(said)}; ${advice}`,
  )
}

function lines(found: readonly FoundCompany[]): string[] {
  const rows = found
    .slice(0, shownMax)
    .map(({ id, jurisdiction, identifier, name }) => [
      String(id),
      oneLine(jurisdiction ?? ''),
      oneLine(identifier ?? ''),
      oneLine(name ?? ''),
    ])
  const rest = found.length - rows.length
  return [
    ...tableLines([['ID', 'JURISDICTION', 'NUMBER', 'NAME'], ...rows]),
    ...(rest > 0 ? [`and ${formatCount(rest)} more: add a word, or print all with --json`] : []),
  ]
}
