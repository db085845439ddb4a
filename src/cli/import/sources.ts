// `dossier sources`: lists the sources, and removes the data of one.

import { countOf, formatCount } from '../../text/format-count.ts'
import { importTargets } from '../../import/import-targets.ts'
import { nextExtract } from '../../import/next-extract.ts'
import { nothingToRemove, removeSource } from '../../import/remove-source.ts'
import { advise } from '../../text/nearest.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { resources } from '../../resources/index.ts'
import { shortMoment, writeMoment } from '../../text/moment.ts'
import type { SourceImport, SourceSummary } from '../../store/inspecting.ts'
import { openExistingStore, openStoreInspector } from '../../store/open-store.ts'
import { lockWait, storeOf } from '../progress.ts'
import {
  byAction,
  type Command,
  type CommandContext,
  type Input,
  onlyWord,
  print,
  keepingChanges,
} from '../command.ts'
import { confirm } from '../confirm.ts'
import { parseChoice } from '../option-values.ts'
import { printRecipes } from './source-show.ts'
import { formatDay, tableLines } from '../table.ts'
import { findRecipes } from './update.ts'

const targets = importTargets(resources)
const targetNames = targets.map(({ name }) => name)

export const sources: Command = {
  summary: 'list the sources, show how one is imported, or remove its data',
  synopsis: [
    'sources [--json]',
    'sources show NAME [--sql] [--json]',
    'sources remove NAME [--resource NAME] [--yes]',
    'sources remove NAME [--resource NAME] --dry-run',
  ],
  details: `
Lists each source with its records, their companies, its last import and its date, and, if its
extracts arrive at regular intervals, when the next one is due. Recorded changes have a source of
their own, such as sec/companies.

\`show\` prints the recipe of a source, for each kind of record: the command of the last import that
has not been reverted, its dates and its files; with --sql, the text of its mapping. \`dossier
update\` imports the next files in the same way.

\`remove\` removes the data of a source, as a snapshot without rows would, in one version for each
listing. It shows the counts and asks for confirmation; without a terminal, it needs --yes.
\`dossier revert\` restores the data.

  dossier sources show nse
  dossier sources remove default --resource rights`,
  options: {
    '--resource NAME': 'only this listing, or companies',
    '--yes': 'remove without asking',
    '--dry-run': 'report what would be removed, and remove nothing',
    '--sql': 'print the mapping of the recipe',
    '--json': 'print the list, or the recipe, as JSON',
  },
  settings: ['db', 'withheld'],
  run: byAction('sources', { show, remove }, list, 'to show one: sources show NAME'),
}

async function list(input: Input, context: CommandContext): Promise<number> {
  const all = await listAll(input, context)
  print(input, context, all.map(sourceJson), lines(all))
  return 0
}

async function show(input: Input, context: CommandContext): Promise<number> {
  const name = onlyWord(
    input.words,
    'sources show takes the name of one source; see: dossier sources',
  )
  printRecipes(name, await findRecipes(name, input, context), input, context)
  return 0
}

async function listAll(input: Input, context: CommandContext): Promise<readonly SourceSummary[]> {
  await using store = await openStoreInspector(storeOf(input, context), resources)
  return await store.listSources()
}

function sourceJson({ source, target, records, companies, imports }: SourceSummary): object {
  const [last, next] = [imports.at(-1), nextExtract(imports)]
  return {
    source,
    resource: target,
    records,
    companies,
    imports: imports.length,
    last_import: last === undefined ? null : lastJson(last),
    // It is as exact as a day.
    next_expected: next === undefined ? null : `${formatDay(next)}T00:00:00Z`,
  }
}

const lastJson = ({ version, committedAt, asOf }: SourceImport) => {
  return { version, committed_at: writeMoment(committedAt), as_of: asOf ?? null }
}

const head = ['source', 'of', 'records', 'companies', 'last import', 'as of', 'next expected']

function lines(list: readonly SourceSummary[]): string[] {
  if (list.length === 0) return ['There are no sources yet. Begin with: dossier import --help']
  return tableLines([head, ...list.map(cells)])
}

function cells({ source, target, records, companies, imports }: SourceSummary): string[] {
  const last = imports.at(-1)
  const next = nextExtract(imports)
  return [
    source,
    target,
    formatCount(records),
    formatCount(companies),
    last === undefined ? '' : `version ${last.version}, ${formatDay(last.committedAt)}`,
    last?.asOf === undefined ? '' : shortMoment(last.asOf),
    next === undefined ? '' : formatDay(next),
  ]
}

async function remove(input: Input, context: CommandContext): Promise<number> {
  const name = onlyWord(
    input.words,
    'sources remove takes the name of one source; see: dossier sources',
  )
  const { resource } = input.options
  if (resource !== undefined) parseChoice('resource', resource, targetNames)
  const list = await listAll(input, context)
  const chosen = choose(list, name, resource)
  const counted = chosen.map(({ target, records, companies }) => {
    const of = target === 'companies' ? '' : `, of ${countOf(companies, 'company', 'companies')}`
    return `${target} from source ${name}: ${formatCount(records)}${of}`
  })
  context.stdout.writeLines(...counted, ...recordedLines(list, name))
  if (input.flags.has('dry-run')) {
    context.stdout.writeLines('Dry run: nothing was removed.')
    return 0
  }
  if (!input.flags.has('yes')) await confirm('Remove these? [y/N] ', context, 'to remove these')
  await using store = await openExistingStore(storeOf(input, context), resources)
  for (const [n, { target: of }] of chosen.entries()) {
    const target = targets.find((known) => known.name === of)
    if (target === undefined) throw new OperatorError(`this Dossier has no ${of}`)
    const wait = lockWait(context)
    const request = { target, source: name, startedAt: context.now(), ...wait }
    const { version, removed } = await removeSource(store, request).catch((error: unknown) => {
      throw n === 0 ? error : keepingChanges(error, context)
    })
    const what =
      of === 'companies'
        ? countOf(removed, 'company', 'companies')
        : `${countOf(removed, 'record')} of ${of}`
    context.stdout.writeLines(
      `Removed ${what} as version ${version}; to undo that: dossier revert ${version}`,
    )
  }
  return 0
}

/** Recorded changes have a source of their own, and are kept. */
function recordedLines(list: readonly SourceSummary[], name: string): string[] {
  return list
    .filter(({ source, records }) => source.startsWith(`${name}/`) && records > 0)
    .map(
      ({ source, target, records }) =>
        `${target} recorded from it are kept (${formatCount(records)}); to remove them, too: ` +
        `dossier sources remove ${source}`,
    )
}

function choose(
  list: readonly SourceSummary[],
  name: string,
  target: string | undefined,
): readonly SourceSummary[] {
  const names = [...new Set(list.map(({ source }) => source))]
  if (!names.includes(name)) {
    const advice = advise(name, names, 'see: dossier sources')
    throw new OperatorError(`there is no source ${name}; ${advice}`)
  }
  const chosen = list.filter(
    (one) => one.source === name && one.records > 0 && (target ?? one.target) === one.target,
  )
  if (chosen.length === 0) throw nothingToRemove(name, target)
  return chosen
}
