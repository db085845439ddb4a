// `dossier imports`: lists the imports with their times, sources and changes.

import { countOf, formatCount } from '../../text/format-count.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { resources } from '../../resources/index.ts'
import { shortMoment, writeMoment } from '../../text/moment.ts'
import { openStoreInspector } from '../../store/open-store.ts'
import type { LoggedImport, ShownImport } from '../../store/inspecting.ts'
import {
  byAction,
  type Command,
  type CommandContext,
  type Input,
  onlyWord,
  print,
} from '../command.ts'
import { differenceJson, differenceLines } from './difference-lines.ts'
import { countsJson } from './import-report.ts'
import { parseNumber, parseVersion } from '../option-values.ts'
import { formatMoment, oneLine } from '../table.ts'
import { storeOf } from '../progress.ts'

const limitDefault = 20
const limitMax = 1_000_000

export const imports: Command = {
  summary: 'list the imports; each is a version of the registry',
  synopsis: ['imports [--limit N] [--json]', 'imports show VERSION [--json]'],
  details: `
Lists the imports, newest first: version, commit time, target and source, date of the extract,
duration, changes, and the files with their SHA-256. \`show\` prints one of them with what it
changed: how many values of each attribute, with examples, and the companies added or removed.

  dossier imports --limit 5
  dossier imports show 12`,
  options: {
    '--limit N': `list at most N imports (default: ${limitDefault})`,
    '--json': 'print the list as JSON',
  },
  settings: ['db', 'withheld'],
  run: byAction('imports', { show }, list, 'to show one: imports show VERSION'),
}

async function list(input: Input, context: CommandContext): Promise<number> {
  const { limit: given = String(limitDefault) } = input.options
  const limit = parseNumber('limit', given, 1, limitMax)
  await using store = await openStoreInspector(storeOf(input, context), resources)
  const listed = await store.listImports(limit)
  print(input, context, listed.map(importJson), lines(listed))
  return 0
}

async function show(input: Input, context: CommandContext): Promise<number> {
  const word = onlyWord(input.words, 'imports show takes the number of one version')
  const version = parseVersion('VERSION', word)
  await using store = await openStoreInspector(storeOf(input, context), resources)
  const one = await store.readImport(version)
  if (one === undefined) {
    throw new OperatorError(`there is no version ${version}; see: dossier imports`)
  }
  print(input, context, shownJson(one), [...describe(one), ...changed(one)])
  return 0
}

const shownJson = ({ difference, ...one }: ShownImport) => ({
  ...importJson(one),
  difference: difference === undefined ? null : differenceJson(difference),
})

/** The members of the API's versions, and those that only operators see. */
function importJson({ version, source, files, ...one }: LoggedImport): object {
  return {
    version,
    committed_at: writeMoment(one.committedAt),
    started_at: writeMoment(one.startedAt),
    resource: one.target,
    source,
    as_of: one.asOf ?? null,
    snapshot: one.isSnapshot,
    reverts: one.reverts ?? null,
    reverted_by: one.revertedBy ?? null,
    ...countsJson(one.counts),
    events: Object.values(one.recorded).reduce((sum, count) => sum + count, 0),
    files,
  }
}

const changed = ({ difference }: ShownImport) =>
  difference === undefined ? [] : differenceLines(difference).map((line) => `  ${line}`)

function lines(list: readonly LoggedImport[]): string[] {
  if (list.length === 0) return ['Nothing has been imported yet. Begin with: dossier import --help']
  return list.flatMap((one, index) => [...(index === 0 ? [] : ['']), ...describe(one)])
}

function describe(one: LoggedImport): string[] {
  const { version, committedAt, startedAt, target, source, asOf, isSnapshot, files } = one
  const { reverts, revertedBy } = one
  const what = [
    ...(reverts === undefined ? [] : [describeReverts(reverts)]),
    `${target} from ${source}`,
    ...(asOf === undefined ? [] : [`as of ${shortMoment(asOf)}`]),
    // What an operator removes with its source is a snapshot without files.
    ...(isSnapshot ? [files.length === 0 ? 'sources remove' : 'snapshot'] : []),
    `in ${((committedAt - startedAt) / 1_000).toFixed(1)} s`,
    ...(revertedBy === undefined ? [] : [`reverted by ${revertedBy}`]),
  ]
  return [
    `version ${version}  ${formatMoment(committedAt)} UTC  ${what.join(', ')}`,
    `  ${countsLine(one)}`,
    ...files.map(
      ({ name, bytes, sha256 }) => `  ${oneLine(name)}  ${formatCount(bytes)} bytes  ${sha256}`,
    ),
  ]
}

/** A withholding reverts no version. */
function describeReverts(reverts: readonly number[]): string {
  return reverts.length === 0 ? 'withheld' : `revert of ${reverts.join(', ')}`
}

/** What one record of a resource is called in a sentence. */
const oneOf = (target: string) =>
  resources.find(({ name }) => name === target)?.title.toLowerCase() ?? target

function countsLine({ counts, recorded, reverts }: LoggedImport): string {
  if (reverts !== undefined) {
    const { inserted, updated, removed } = counts
    const [back, changed, gone] = [inserted, updated, removed].map(formatCount)
    if (reverts.length === 0) return `${changed} masked, ${gone} erased`
    return `${back} restored, ${changed} updated, ${gone} removed`
  }
  const { read, companiesCreated: created, ...ends } = counts
  const changes = Object.entries(ends).map(([name, count]) => `${formatCount(count)} ${name}`)
  const more = [
    ...(created > 0 ? [`${countOf(created, 'company', 'companies')} created`] : []),
    ...Object.entries(recorded)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${countOf(count, oneOf(name), name)} recorded`),
  ]
  return [`${formatCount(read)} read: ${changes.join(', ')}`, ...more].join('; ')
}
