// `dossier listing`: prints the records of a company's listing, by the code that serves clients.

import { UsageError } from '../../config/settings.ts'
import { locate } from '../../http/requests/company-request.ts'
import { recordFormats, recordWriter } from '../../http/requests/formats.ts'
import {
  type ListingRequest,
  noLimit,
  parseListingRequest,
} from '../../http/requests/listing-request.ts'
import { readAll, readPage, readSlice } from '../../http/answers/read-listing.ts'
import { advise } from '../../text/nearest.ts'
import { resources } from '../../resources/index.ts'
import type { Resource } from '../../resources/resource.ts'
import { openStoreForShowing } from '../../store/open-store.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import type { Command } from '../command.ts'
import { parseChoice } from '../option-values.ts'
import type { Output } from '../output.ts'
import { explainApiError } from './api-error.ts'
import { storeOf } from '../progress.ts'

/** A listing that knows the parameter of the example. */
const periodic = resources.find(({ period }) => period !== undefined)

export const listing: Command = {
  summary: "print a company's listing, filtered, at any version",
  synopsis: ['listing COMPANY RESOURCE [PARAMETER=VALUE …] [--version N] [--format csv]'],
  details: `
Prints the records that the parameters select, as one line of JSON each or as CSV. COMPANY is an
id, or a register number such as GB:09876543. Parameters are those of the API: filters, sort,
as_of, known_at, and page and limit for a part.

  dossier listing GB:09876543 ${resources[0]?.name} as_of=2024-01-31 --format csv
  dossier listing 1000000000042 ${periodic?.name} current_on=2024-06-30 --version 17`,
  options: {
    '--version N': 'print it as it was at this version',
    '--format FORMAT': `${recordFormats.join(' or ')} (default: ndjson)`,
  },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { words, options } = input
    const { stdout, signal } = context
    const { company, resource, parameters } = parseWords(words)
    for (const name of ['format', 'version'] as const) {
      if (options[name] === undefined || parameters[name] === undefined) continue
      throw new UsageError(`give ${name} only once: as --${name}, or as ${name}=`)
    }
    const { version, format: word = parameters['format'] ?? 'ndjson' } = options
    const format = parseChoice('format', String(word), recordFormats)
    const query = { ...parameters, format, ...(version === undefined ? {} : { version }) }
    try {
      const request = parse(resource, company, query)
      await using reader = await openStoreForShowing(storeOf(input, context))
      const numbers = await locate(reader, request, true, resource)
      await printRecords(reader, { ...request, ...numbers }, stdout, signal)
    } catch (error) {
      throw explainApiError(error)
    }
    return 0
  },
}

type Query = Readonly<Record<string, string | string[]>>

/** @throws UsageError that names what is missing. */
function parseWords(words: readonly string[]) {
  const isParameter = (word: string) => word.includes('=')
  const names = words.filter((word) => !isParameter(word))
  // As in `dossier company`, jurisdiction and identifier may be two words.
  const company = names.slice(0, -1).join(':')
  const name = names.at(-1)
  if (name === undefined || names.length < 2 || names.length > 3) {
    throw new UsageError(
      `name one company and one listing, such as: GB:09876543 ${resources[0]?.name}`,
    )
  }
  const isListing = (word: string) => resources.some((one) => one.name === word)
  const [first = ''] = names
  if (!isListing(name) && isListing(first)) {
    const right = [...names.slice(1), first].join(' ')
    throw new UsageError(`name the company before the listing: ${right}`)
  }
  const resource = resources.find((one) => one.name === name)
  if (resource === undefined) {
    const known = resources.map((one) => one.name)
    throw new UsageError(`${name} is not a listing; ${advise(name, known)}`)
  }
  return { company, resource, parameters: parametersOf(words.filter(isParameter)) }
}

/** As in a query, a name may be repeated. */
function parametersOf(words: readonly string[]): Query {
  const query = Object.create(null) as Record<string, string | string[]>
  for (const word of words) {
    const at = word.indexOf('=')
    const [name, value] = [word.slice(0, at), word.slice(at + 1)]
    const known = query[name]
    query[name] = known === undefined ? value : [known, value].flat()
  }
  return query
}

function parse(resource: Resource, company: string, query: Query) {
  const isPage = 'page' in query || 'limit' in query
  const given = {
    query: isPage ? query : { ...query, limit: 'all' },
    body: undefined,
    accept: undefined,
  }
  return parseListingRequest(resource, company, given)
}

async function printRecords(
  reader: StoreReader,
  asked: ListingRequest,
  stdout: Output,
  signal: AbortSignal,
): Promise<void> {
  if (asked.limit !== noLimit) {
    const { records } = await readPage(reader, asked)
    const { header, bytes } = recordWriter(asked.format, asked.resource)
    await stdout.writeData(header + bytes(records).toString())
    return
  }
  const { pieces } = await readAll(asked, (what, slice) => readSlice(reader, what, slice))
  for await (const piece of pieces) {
    signal.throwIfAborted()
    if (!(await stdout.writeData(piece.toString()))) return
  }
}
