// `dossier import`: loads files into the store, all or nothing.

import { UsageError } from '../../config/settings.ts'
import {
  importFiles,
  type ImportRequest,
  isRefused,
  type RejectedRow,
} from '../../import/import-files.ts'
import { findSourceFiles } from '../../files/source-file.ts'
import { changeResource, resources } from '../../resources/index.ts'
import {
  hasStore,
  openExistingStore,
  openStoreForTrial,
  openStoreWriter,
  storeFiles,
} from '../../store/open-store.ts'
import type { Command, CommandContext, Input } from '../command.ts'
import { fileOptions, parseFileOptions, refuseUnusedOptions } from './file-options.ts'
import { findFolders, findMapping } from './find-mapping.ts'
import { historical, parseHistory, parseNameAttribute, parseTarget } from './import-options.ts'
import { printRefused, printReport } from './import-report.ts'
import { printShown } from './import-show.ts'
import { checkName, parseNumber } from '../option-values.ts'
import { createProgress, lockWait, storeOf } from '../progress.ts'
import { recipeOf } from './recipe.ts'
import { openRejects } from './rejects-file.ts'

/** How many rows `--show` shows at most. */
const shownMax = 1_000

export const importCommand: Command = {
  summary: 'load companies or their records from files',
  synopsis: [
    'import companies FILE… [OPTIONS]',
    `import {${resources.map(({ name }) => name).join('|')}} FILE… [OPTIONS]`,
  ],
  details: `
FILE is NDJSON, JSON, CSV, TSV or Parquet, optionally compressed (.gz, .zst, .zip). A quoted
glob ('*.csv') names several files; - reads NDJSON from standard input. All files are loaded in one
transaction: all or nothing.

Columns have the names of the resource's fields. In addition:
  company_id, or company_jurisdiction and company_identifier    the company of the record
  id, or key    the identity of the record: its number, or the natural key of the source; without
                either, records with the same content are the same record
Companies have jurisdiction and identifier, optionally id, and any attributes. Files with other
columns need a mapping (--map): a SELECT over the view \`source\`, in DuckDB's SQL.

  dossier import companies companies.csv
  dossier import rights 'extracts/*.ndjson.gz' --source patent-office
  dossier import jobs jobs.csv --map my-jobs.sql --rejects refused.ndjson
  dossier import employees officers.parquet --source register --snapshot

With --as-of, an import of companies records the changes since the previous extract of its source
as ${changeResource.name}; with --history, an import of ${historical.join(', ')} does so, too.

  dossier import companies 2026-11.csv --source register --snapshot --as-of 2026-11-30`,
  options: {
    '--map FILE.sql':
      'a file with a SELECT over the view source (./my.sql), or a ready-made mapping (ba-atms)',
    '--map-read DIR[,DIR]': 'folders that the mapping may read, besides the source',
    '--source NAME':
      'the source of the records; an import changes only its own source (default: default)',
    '--name-attribute NAME':
      "the attribute with the companies' names, kept for the source (default: name)",
    '--snapshot': 'treat the files as the complete source: remove records that they lack',
    '--as-of DATE':
      'the date of the extract (2026-11-30), which recorded changes get; companies may have ' +
      'a column as_of instead',
    '--history': `also record changes of the records: for ${historical.join(', ')}, with --as-of`,
    '--rejects FILE':
      'load the valid rows; write the refused ones, with reasons, to FILE (NDJSON), a new file, ' +
      'also with --dry-run; if the import fails, FILE is removed',
    '--known-companies-only': 'refuse records of companies that are not in the registry',
    '--no-history': 'record no changes, even if earlier extracts of the source had a date',
    '--record-first': 'also record, as changes, attributes that are new to the source',
    '--future': 'accept dates in the future',
    '--accept': 'import although the date, the file or the size of the change was refused',
    '--complete': 'with --snapshot: trust a pipe to deliver every row (set -o pipefail)',
    '--allow-empty': 'accept files without rows',
    '--strict': 'treat warnings as errors',
    '--show N': 'show the columns and the first N rows as they would be imported; import nothing',
    '--dry-run': 'check everything, change nothing',
    ...fileOptions,
    '--json': 'print the report as JSON',
  },
  settings: ['db', 'withheld'],
  run: (input, context) => runImport(input, context),
}

/** An import by the recipe of its source. */
interface UpdateBy {
  /** The text of the mapping, unless another one is given; undefined without one. */
  readonly mapping: string | undefined
  /** Whether it records changes of records, so that the last import had a day. */
  readonly isDated: boolean
}

/**
 * Runs an import.
 *
 * @param by the recipe, to import the next extract of a source; then the store must exist.
 * @returns the exit code.
 */
export async function runImport(
  input: Input,
  context: CommandContext,
  by?: UpdateBy,
): Promise<number> {
  // A server on the same machine takes precedence, since its clients are waiting.
  context.lowerPriority()
  const { options, settings } = input
  const { show } = options
  const rows = show === undefined ? undefined : parseNumber('show', show, 1, shownMax)
  const { path, ...given } = await findGiven(input, by)
  if (rows !== undefined) {
    await printShown({ ...given, rows, signal: context.signal }, input, context)
    return 0
  }
  const request = { ...given, ...parseRequest(given.target, input, by) }
  refuseCutPipe(request, input)
  const inUse = [...given.files.map(({ name }) => name), path, ...storeFiles(settings.db)]
  using rejects =
    options['rejects'] === undefined ? undefined : openRejects(options['rejects'], inUse)
  const isNew = !(await hasStore(storeOf(input, context)))
  await using store = await openFor(input, context, by)
  const onRejected = rejects && ((rejected: RejectedRow) => rejects.write(rejected))
  const report = await importFiles(store, {
    ...request,
    recipe: recipeOf(importCommand, input, given.mapping),
    isUpdate: by !== undefined,
    onRejected,
    keepRejected: rejects?.keep,
    onProgress: createProgress(context),
    onRefused: (report) => printRefused(report, input, context),
    onWarning: (warning) => context.stderr.writeLines(`dossier: warning: ${warning}`),
    onWait: lockWait(context).onWait,
    signal: context.signal,
  })
  printReport(report, input, context, isNew)
  return isRefused(report.counts, onRejected) ? 1 : 0
}

function openFor(input: Input, context: CommandContext, by?: UpdateBy) {
  const existing = by === undefined ? openStoreWriter : openExistingStore
  const open = input.flags.has('dry-run') ? openStoreForTrial : existing
  return open(storeOf(input, context), resources)
}

/** If the program that writes to a pipe ended early, a snapshot would remove the missing rows. */
function refuseCutPipe(
  { files, isSnapshot }: Pick<ImportRequest, 'files' | 'isSnapshot'>,
  { flags }: Input,
): void {
  const pipe = files.find(({ size }) => size === undefined)
  if (pipe === undefined || !isSnapshot || flags.has('complete')) return
  throw new UsageError(
    `${pipe.name} is a pipe, which may end early: write its rows to a file first or, if it is ` +
      'sure to deliver all of them (set -o pipefail), add --complete to --snapshot',
  )
}

/** The request that the options make, except for its files. */
function parseRequest(
  target: Parameters<typeof parseHistory>[0],
  input: Input,
  by: UpdateBy | undefined,
) {
  const { flags, options } = input
  return {
    source: checkName('source', options['source'] ?? 'default'),
    isSourceAssumed: options['source'] === undefined,
    isStrict: flags.has('strict'),
    nameAttribute: parseNameAttribute(target, options['name-attribute']),
    isFirstRecorded: flags.has('record-first'),
    isSnapshot: flags.has('snapshot'),
    isDryRun: flags.has('dry-run'),
    permissions: {
      future: flags.has('future'),
      accepted: flags.has('accept'),
      noRows: flags.has('allow-empty'),
      noDay: flags.has('no-history'),
    },
    ...parseHistory(target, input, by?.isDated),
    knownCompaniesOnly: flags.has('known-companies-only'),
  }
}

/** What is imported, from where, and the path of its mapping. */
async function findGiven(input: Input, by: UpdateBy | undefined) {
  const { flags, options, values } = input
  const [word, ...words] = input.words
  const target = parseTarget(word)
  if (words.length === 0) throw new UsageError(`name the files to import ${target.name} from`)
  const files = await findSourceFiles(words, parseFileOptions(input))
  refuseUnusedOptions(files, input)
  // The mapping of a recipe has no file.
  const { sql, path } =
    by?.mapping === undefined
      ? findMapping(options['map'], target.name)
      : { sql: by.mapping, path: undefined }
  return {
    target,
    files,
    mapping: sql,
    path,
    mappingFolders: findFolders(options['map-read'], sql !== undefined),
    texts: { isTrimmed: flags.has('trim'), nulls: values['null'] ?? [] },
  }
}
