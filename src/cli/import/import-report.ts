// The report of an import: its refused rows, and counts of rows by outcome.
//
// As JSON, it has the same members whether the import is committed, refused or tried.

import { formatCount } from '../../text/format-count.ts'
import type { ImportReport } from '../../import/import-files.ts'
import { describeKind } from '../../import/rows/refused-kinds.ts'
import { changeResource } from '../../resources/index.ts'
import { describeStore } from '../../store/open-store.ts'
import type { CommandContext, Input } from '../command.ts'
import { changeLines, differenceJson, differenceLines } from './difference-lines.ts'

/** Prints what an import would change that is refused because of these changes. */
export function printRefused(report: ImportReport, input: Input, context: CommandContext): void {
  if (input.flags.has('json')) context.stdout.writeJson(reportJson(report, input))
  else context.stderr.writeLines(...changeLines(report))
}

/**
 * Prints the refused rows to standard error, then the report to standard output.
 *
 * @param isNew whether there was no store before.
 */
export function printReport(
  report: ImportReport,
  input: Input,
  { stdout, stderr }: CommandContext,
  isNew: boolean,
): void {
  if (input.flags.has('json')) return stdout.writeJson(reportJson(report, input))
  stderr.writeLines(...report.kinds.map(describeKind))
  const { unlistedRows } = report
  if (unlistedRows > 0) stderr.writeLines(`… and ${formatCount(unlistedRows)} more`)
  stdout.writeLines(...reportLines(report, input, isNew))
}

/** Programs get the refused rows one by one instead of grouped by kind. */
function reportJson(report: ImportReport, input: Input): object {
  const { version, counts, difference, problems, files, listEntry, elapsedMs } = report
  return {
    version: version ?? null,
    resource: targetOf(input),
    source: sourceOf(input),
    ...countsJson(counts),
    events: counts.recorded,
    erased: counts.erased,
    withheld: counts.withheld,
    difference: differenceJson(difference),
    problems,
    files,
    withheld_entry: listEntry ?? null,
    elapsed_ms: elapsedMs,
  }
}

type Counts = Omit<ImportReport['counts'], 'recorded' | 'erased' | 'withheld'>

/** The counts that the log keeps, too. */
export function countsJson({ read, inserted, updated, unchanged, refused, ...more }: Counts) {
  const { removed, companiesCreated: companies_created } = more
  return { read, inserted, updated, unchanged, refused, removed, companies_created }
}

const targetOf = ({ words: [target = ''] }: Input) => target
const sourceOf = ({ options }: Input) => options['source'] ?? 'default'

function reportLines(report: ImportReport, input: Input, isNew: boolean): string[] {
  const { counts, version, listEntry, elapsedMs, difference } = report
  const all: readonly (readonly [string, number])[] = [
    ['read', counts.read],
    ['inserted', counts.inserted],
    ['updated', counts.updated],
    ['unchanged', counts.unchanged],
    ['refused', counts.refused],
    ...(counts.erased > 0 ? ([['erased', counts.erased]] as const) : []),
    ['removed', counts.removed],
    ['companies created', counts.companiesCreated],
    ...(counts.recorded > 0
      ? ([[`${changeResource.name} recorded`, counts.recorded]] as const)
      : []),
    ...(counts.withheld > 0 ? ([['withheld', counts.withheld]] as const) : []),
  ]
  // If nothing was loaded, counts of inserted rows would be misleading.
  const isNothing = version === undefined && !input.flags.has('dry-run')
  const rows = all.filter(([name]) => !isNothing || name === 'read' || name === 'refused')
  const rate = Math.round(counts.read / Math.max(elapsedMs / 1_000, 0.001))
  const took = `in ${(elapsedMs / 1_000).toFixed(1)} s (${formatCount(rate)} rows/s)`
  return [
    `${targetOf(input)} from source ${sourceOf(input)}`,
    ...rows.map(([name, count]) => `  ${name.padEnd(18)}${formatCount(count).padStart(14)}`),
    ...(isNothing ? [] : differenceLines(difference).map((line) => `  ${line}`)),
    outcome(report, took, input),
    ...(isNew && version !== undefined
      ? [`Created the store ${describeStore(input.settings.db)}.`]
      : []),
    ...(listEntry === undefined
      ? []
      : [
          `What is withheld was found in more places, as entry ${listEntry} of its list tells: ` +
            'back up the list, and run dossier compact.',
        ]),
  ]
}

function outcome(
  { version, counts: { read, refused }, unreadableRows }: ImportReport,
  took: string,
  { flags, options }: Input,
): string {
  if (version !== undefined) return `Committed as version ${version} ${took}.`
  if (flags.has('dry-run')) return `Dry run: nothing was changed. Checked ${took}.`
  const [rows, them] =
    refused === 1 ? ['1 row was', 'it'] : [`${formatCount(refused)} rows were`, 'them']
  const toMap =
    options['map'] === undefined
      ? `, or convert ${them} with a mapping (--map)`
      : ', or correct the mapping'
  const others = refused < read ? ', or load the others with --rejects FILE' : toMap
  return `Nothing was loaded: ${rows} refused. Fix ${them}${unreadableRows < read ? others : ''}.`
}
