// `dossier changes`: prints what has changed since a version, by the code that serves clients.

import { UsageError } from '../../config/settings.ts'
import {
  changesPath,
  changesTexts,
  locateChanges,
  parseChangesRequest,
} from '../../http/requests/changes-request.ts'
import { changesLines } from '../../http/answers/changes-text.ts'
import { readChanges } from '../../http/answers/read-listing.ts'
import { writePoint } from '../../http/requests/cursors.ts'
import { resources } from '../../resources/index.ts'
import type { ChangesRequest } from '../../store/changes.ts'
import { openStoreForShowing } from '../../store/open-store.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import type { Command } from '../command.ts'
import type { Output } from '../output.ts'
import { explainApiError } from './api-error.ts'
import { storeOf } from '../progress.ts'

const pageLength = 1_000

/** The parameters of the API for which there are options. */
const parameterNames = Object.keys(changesTexts)
const parameterOf = Object.fromEntries(
  ['since', 'until', 'resource', 'company'].map((option, n) => [option, parameterNames[n] ?? '']),
)

export const changes: Command = {
  summary: 'print what has changed since a version',
  synopsis: ['changes --since VERSION [--until VERSION] [--company COMPANY] [--resource NAME]'],
  details: `
Prints the net changes, one line of JSON for each record that was added, changed or removed, as
${changesPath} does. VERSION is a number, 0 for the whole registry, or a cursor. COMPANY is an id,
or a register number such as GB:09876543.

  dossier changes --since 17
  dossier changes --since 0 --until 17 --company GB:09876543 --resource ${resources[0]?.name}`,
  options: {
    '--since VERSION': 'the version before the changes',
    '--until VERSION': 'the version after the changes (default: the last one)',
    '--company COMPANY': 'only changes of this company',
    '--resource NAME': 'only changes of this listing, or of companies',
  },
  settings: ['db', 'withheld'],
  takesWords: false,
  async run(input, context) {
    const { options } = input
    const { stdout, stderr, signal } = context
    if (options['since'] === undefined) throw new UsageError('name a version with --since')
    await using reader = await openStoreForShowing(storeOf(input, context))
    try {
      const asked = await parse(reader, options)
      const until = await print(reader, asked, stdout, signal)
      if (until !== undefined) stderr.writeLines(`changes up to ${until}`)
      return 0
    } catch (error) {
      throw explainApiError(error, reword)
    }
  },
}

async function parse(
  reader: StoreReader,
  options: Readonly<Record<string, string | undefined>>,
): Promise<ChangesRequest> {
  const given = Object.entries(parameterOf).flatMap(([option, name]) => {
    const value = options[option]
    return value === undefined ? [] : [[name, value] as const]
  })
  const query = Object.fromEntries([...given, ['limit', String(pageLength)]])
  const question = parseChangesRequest(resources, { query, body: undefined }, undefined)
  return locateChanges(reader, question, { resources, isReadable: () => true })
}

/** Prints all pages; returns the cursor of their end, unless nobody reads them. */
async function print(
  reader: StoreReader,
  asked: ChangesRequest,
  stdout: Output,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let next = asked; ;) {
    signal.throwIfAborted()
    const page = await readChanges(reader, next)
    if (!(await stdout.writeData(changesLines(page).toString()))) return undefined
    if (page.next === undefined) return writePoint(page.until)
    next = { ...asked, since: page.since, until: page.until, after: page.next }
  }
}

/** Replaces names of parameters with those of options. */
function reword(message: string): string {
  // Words in backquotes are members of an answer.
  const parts = message.split('`')
  return parts.map((part, n) => (n % 2 === 1 ? part : withOptions(part))).join('`')
}

function withOptions(text: string): string {
  const names = Object.entries(parameterOf)
  return names.reduce((all, [option, name]) => all.replaceAll(name, `--${option}`), text)
}
