// `dossier revert`: undoes versions, as a new version.

import { UsageError } from '../../config/settings.ts'
import { formatCount } from '../../text/format-count.ts'
import { resources } from '../../resources/index.ts'
import { openExistingStore } from '../../store/open-store.ts'
import type { Reverted, RevertRange, RevertReport } from '../../store/writing.ts'
import { type Command, type Input, print } from '../command.ts'
import { parseVersion } from '../option-values.ts'
import { storeOf, watchWork } from '../progress.ts'

export const revert: Command = {
  summary: 'undo an import, as a new version',
  synopsis: [
    'revert VERSION [--with-later] [--dry-run] [--json]',
    'revert --to VERSION [--dry-run] [--json]',
  ],
  details: `
Makes a new version in which the data of one import's source is as it was before that import: its
records or companies, and the changes that it recorded. Other sources keep their data. Ids stay
assigned, and the past is kept, so a revert can itself be reverted. \`dossier imports\` lists the
versions.

If the source has been imported again since, --with-later reverts those imports as well. --to
restores the state of a version for all sources; 0 is the empty registry.

  dossier revert 12 --dry-run
  dossier revert 12
  dossier revert --to 11`,
  options: {
    '--with-later': 'revert later imports of the same source as well',
    '--to VERSION': 'revert everything after this version',
    '--dry-run': 'report what would change, and change nothing',
    '--json': 'print the report as JSON',
  },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const range = rangeOf(input)
    const isDryRun = input.flags.has('dry-run')
    await using store = await openExistingStore(storeOf(input, context), resources)
    const startedAt = context.now()
    const report = await store.revert({ range, isDryRun, startedAt, ...watchWork(context) })
    print(input, context, reportJson(report), reportLines(report, isDryRun))
    return 0
  },
}

function rangeOf({ words, options, flags }: Input): RevertRange {
  const { to } = options
  if (to !== undefined) {
    if (words.length > 0) throw new UsageError('revert takes either VERSION or --to VERSION')
    if (flags.has('with-later')) throw new UsageError('--to reverts all later imports anyway')
    return { to: parseVersion('--to', to, 0) }
  }
  const [word, ...rest] = words
  if (word === undefined) throw new UsageError('revert needs a VERSION; see: dossier imports')
  if (rest.length > 0) {
    throw new UsageError('revert takes one VERSION; --with-later adds the later ones of its source')
  }
  return { version: parseVersion('VERSION', word), isWithLater: flags.has('with-later') }
}

function reportJson(report: RevertReport): object {
  const { reverted, companiesForgotten, companiesRevived } = report
  return {
    reverted: reverted.map(revertedJson),
    companies_forgotten: companiesForgotten,
    companies_known_again: companiesRevived,
  }
}

/** The counts have the names that the log of imports, and the API, have for them. */
function revertedJson({ version, target, source, reverts, ...counts }: Reverted): object {
  const { restored: inserted, updated, removed, recorded } = counts
  const changes = Object.entries(recorded).map(
    ([resource, count]) =>
      [resource, { inserted: count.restored, removed: count.removed }] as const,
  )
  const of = { version: version ?? null, resource: target, source, reverts }
  return { ...of, inserted, updated, removed, recorded: Object.fromEntries(changes) }
}

function reportLines(report: RevertReport, isDryRun: boolean): string[] {
  const { reverted, companiesForgotten, companiesRevived } = report
  if (reverted.length === 0) return ['Nothing to revert: the registry is in that state already.']
  return [
    ...reverted.flatMap(sourceLines),
    ...countLines([
      ['companies forgotten', companiesForgotten],
      ['companies known again', companiesRevived],
    ]),
    isDryRun ? 'Dry run: nothing was changed.' : committed(reverted),
  ]
}

function committed(reverted: readonly Reverted[]): string {
  const versions = reverted.map(({ version }) => version)
  const [first = 0] = versions
  const back = versions.length === 1 ? String(first) : `--to ${first - 1}`
  return `Committed as ${versionsOf(versions)}; to undo that: dossier revert ${back}`
}

function sourceLines(one: Reverted): string[] {
  const { target, source, reverts, restored, updated, removed, recorded } = one
  return [
    `${target} from source ${source}: ${versionsOf(reverts)}`,
    countLine('restored', restored),
    countLine('updated', updated),
    countLine('removed', removed),
    ...countLines(
      Object.entries(recorded).flatMap(([name, count]) => [
        [`${name} restored`, count.restored],
        [`${name} removed`, count.removed],
      ]),
    ),
  ]
}

function versionsOf(versions: readonly (number | undefined)[]): string {
  return `version${versions.length === 1 ? '' : 's'} ${versions.join(', ')}`
}

function countLines(counts: readonly (readonly [name: string, count: number])[]): string[] {
  return counts.filter(([, count]) => count > 0).map(([name, count]) => countLine(name, count))
}

function countLine(name: string, count: number): string {
  return `  ${name.padEnd(22)}${formatCount(count).padStart(14)}`
}
