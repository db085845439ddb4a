// `dossier import`: loads files into the store, all or nothing.

import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../config.ts'
import { importFiles, type RejectedRow } from '../import/import-files.ts'
import type { ImportTarget } from '../import/import-target.ts'
import { companies, importTargets } from '../import/import-targets.ts'
import { Refusal } from '../import/refusal.ts'
import { findSourceFiles } from '../import/source-file.ts'
import { normaliseTimestamp } from '../import/timestamp.ts'
import { nearest } from '../nearest.ts'
import { makeFile } from '../new-file.ts'
import { OperatorError } from '../operator-error.ts'
import { changeResource, resources } from '../resources/index.ts'
import { openStoreForTrial, openStoreWriter, storeFiles } from '../store/open-store.ts'
import type { Command, CommandContext, Input } from './command.ts'
import { fileOptions, parseFileOptions, refuseUnusedOptions } from './file-options.ts'
import { findFolders, findMapping } from './find-mapping.ts'
import { parseShow, printShown } from './import-show.ts'
import { printReport } from './import-report.ts'
import { waitingLine } from './lock-wait.ts'
import { createProgress, watchWork } from './progress.ts'

const targets = importTargets(resources)
const historical = resources.filter(({ history }) => history).map(({ name }) => name)

export const importCommand: Command = {
  name: 'import',
  summary: 'load companies or their records from files',
  synopsis: [
    'import companies FILE… [OPTIONS]',
    `import {${resources.map(({ name }) => name).join('|')}} FILE… [OPTIONS]`,
  ],
  details: `
FILE is NDJSON, JSON, CSV, TSV or Parquet, optionally compressed (.gz, .zst). A quoted glob
('*.csv') names several files; - reads NDJSON from standard input. All files are loaded in one
transaction: all or nothing.

Columns are named like the fields of the resource. In addition:
  company_id, or company_jurisdiction and company_identifier    the company of the record
  id, or key    the identity of the record: its number, or the natural key of the source; without
                either, records with the same content are the same record
Companies have jurisdiction and identifier, optionally id, and any attributes.
Other columns? Reshape the file with --map: a SELECT over the view \`source\`, in DuckDB's SQL.

  dossier import companies companies.csv
  dossier import rights 'extracts/*.ndjson.gz' --source patent-office
  dossier import jobs jobs.csv --map my-jobs.sql --rejects refused.ndjson
  dossier import employees officers.parquet --source register --snapshot

With --as-of, an import of companies records what changed since the previous extract of its source
as ${changeResource.name}; with --history, so does one of ${historical.join(', ')}.

  dossier import companies 2026-11.csv --source register --snapshot --as-of 2026-11-30`,
  options: [
    {
      name: 'map',
      value: 'FILE.sql',
      meaning:
        'a file with a SELECT over the view source (./my.sql), or a ready-made mapping (ba-atms)',
    },
    {
      name: 'map-read',
      value: 'DIR[,DIR]',
      meaning: 'folders that the mapping may read; by default only the source',
    },
    {
      name: 'source',
      value: 'NAME',
      meaning:
        'the source of the records; an import changes only its own source (default: default)',
    },
    {
      name: 'name-attribute',
      value: 'NAME',
      meaning: "the attribute with the companies' names, kept for the source (default: name)",
    },
    {
      name: 'snapshot',
      meaning: 'the files are the complete source: remove records that they lack',
    },
    {
      name: 'as-of',
      value: 'DATE',
      meaning:
        'the date of the extract (2026-11-30), at which changes are recorded; companies may have ' +
        'a column as_of instead',
    },
    {
      name: 'history',
      meaning: `also record changes of these records: for ${historical.join(', ')}, with --as-of`,
    },
    {
      name: 'rejects',
      value: 'FILE',
      meaning: 'load the valid rows, and write refused ones with their reasons to FILE (NDJSON)',
    },
    {
      name: 'known-companies-only',
      meaning: 'refuse records of companies that are not in the registry',
    },
    {
      name: 'no-history',
      meaning: 'record no changes, though earlier extracts of the source had a date',
    },
    { name: 'future', meaning: 'the dates are right, though they are in the future' },
    {
      name: 'expect-changes',
      meaning: 'the import may remove a fifth of what the source has, or change four fifths',
    },
    { name: 'allow-empty', meaning: 'import files without rows' },
    { name: 'strict', meaning: 'refuse what would only be a warning' },
    {
      name: 'show',
      value: 'N',
      meaning: 'show the columns and the first N rows, as they would be imported, and do nothing',
    },
    { name: 'dry-run', meaning: 'check everything, change nothing' },
    ...fileOptions,
    { name: 'json', meaning: 'print the report as JSON' },
  ],
  settings: ['db'],
  run: runImport,
}

async function runImport(input: Input, context: CommandContext): Promise<number> {
  // A server on the same machine takes precedence, since its clients are waiting.
  context.lowerPriority()
  const { flags, options, settings } = input
  const rows = parseShow(input)
  const { path, ...given } = await findGiven(input)
  const { target, files } = given
  if (rows !== undefined) {
    await printShown({ ...given, rows, signal: context.signal }, input, context)
    return 0
  }
  const source = parseSource(options['source'])
  const history = parseHistory(target, input)
  const nameAttribute = parseNameAttribute(target, options['name-attribute'])
  const inUse = [...files.map(({ name }) => name), path, ...storeFiles(settings.db)]
  const rejects =
    options['rejects'] === undefined ? undefined : openRejects(options['rejects'], inUse)
  const isDryRun = flags.has('dry-run')
  const open = isDryRun ? openStoreForTrial : openStoreWriter
  const upgrade = watchWork(context)
  const store = await open(settings.db, resources, upgrade.onStep)
  upgrade.end()
  const progress = createProgress(context)
  try {
    const report = await importFiles(store, {
      ...given,
      source,
      isSourceAssumed: options['source'] === undefined,
      isStrict: flags.has('strict'),
      nameAttribute,
      isSnapshot: flags.has('snapshot'),
      isDryRun,
      permissions: {
        future: flags.has('future'),
        largeChange: flags.has('expect-changes'),
        noRows: flags.has('allow-empty'),
        noDay: flags.has('no-history'),
      },
      ...history,
      knownCompaniesOnly: flags.has('known-companies-only'),
      onRejected: rejects && ((rejected) => rejects.write(rejected)),
      onProgress: (done) => progress.show(done),
      onWarning: (warning) => progress.writeLine(`dossier: warning: ${warning}`),
      onWait: () => progress.writeLine(waitingLine),
      signal: context.signal,
    })
    progress.end()
    printReport(report, { input, context, target: target.name, isDryRun })
    return report.counts.refused > 0 && rejects === undefined ? 1 : 0
  } finally {
    progress.end()
    rejects?.close()
    await store.close()
  }
}

/** What is imported, from where, and the path of its mapping. */
async function findGiven(input: Input) {
  const { flags, options, values } = input
  const [word, ...words] = input.words
  const target = parseTarget(word)
  if (words.length === 0) throw new UsageError(`name the files to import ${target.name} from`)
  const files = await findSourceFiles(words, parseFileOptions(input))
  refuseUnusedOptions(files, input)
  const found = options['map'] === undefined ? undefined : findMapping(options['map'], target.name)
  return {
    target,
    files,
    mapping: found?.sql,
    path: found?.path,
    mappingFolders: findFolders(options['map-read'], found !== undefined),
    isTrimmed: flags.has('trim'),
    nulls: values['null'],
  }
}

function parseTarget(word: string | undefined): ImportTarget {
  const target = targets.find(({ name }) => name === word)
  if (target !== undefined) return target
  const names = targets.map(({ name }) => name)
  const known = names.join(', ')
  if (word === undefined) throw new UsageError(`name what to import: ${known}`)
  const near = nearest(word, names)
  const advice = near ? `did you mean ${near}?` : `choose from ${known}`
  throw new UsageError(`${word} cannot be imported; ${advice}`)
}

/** Returns the date of the extract, and the resource in which its changes are recorded. */
function parseHistory({ name, history, hasRowDays }: ImportTarget, { options, flags }: Input) {
  const word = options['as-of']
  const asOf = word === undefined ? undefined : normaliseTimestamp(word, 'seconds')
  if (asOf instanceof Refusal) {
    throw new UsageError(`--as-of is ${JSON.stringify(word)}; it ${asOf.reason}`)
  }
  const isHistory = flags.has('history')
  if (isHistory && history === undefined) {
    throw new UsageError(`--history does not apply to ${name}, only to ${historical.join(', ')}`)
  }
  if (isHistory && !hasRowDays && asOf === undefined) {
    throw new UsageError('--history needs the date of the extract: --as-of DATE')
  }
  const isUnrecorded = flags.has('no-history')
  if (isUnrecorded && history === undefined) {
    throw new UsageError(`--no-history does not apply to ${name}, whose changes are not recorded`)
  }
  if (isHistory && isUnrecorded)
    throw new UsageError('--history and --no-history exclude each other')
  const isRecorded = !isUnrecorded && (isHistory || history?.isOptional === false)
  return { asOf, recordIn: isRecorded ? changeResource : undefined }
}

function parseSource(word = 'default'): string {
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(word)) {
    throw new UsageError(
      `--source is ${JSON.stringify(word)}; it takes up to 64 letters, digits, dots, _ and -`,
    )
  }
  return word
}

function parseNameAttribute(target: ImportTarget, word: string | undefined): string | undefined {
  if (word === undefined) return undefined
  if (target !== companies) {
    throw new UsageError(`--name-attribute applies to companies only, not to ${target.name}`)
  }
  if (/^[\p{L}\p{N}_][^"\\\p{Cc}]{0,255}$/u.test(word)) return word
  throw new UsageError(
    `--name-attribute is ${JSON.stringify(word)}; it takes the name of a column that begins with ` +
      'a letter, a digit or _',
  )
}

/** Creates the file of refused rows before the import starts, so that it cannot fail at the end. */
function openRejects(path: string, inUse: readonly (string | undefined)[]) {
  if (inUse.some((used) => used !== undefined && isSameFile(used, path))) {
    throw new UsageError(`--rejects ${path} is a file that this import uses; name another`)
  }
  const what = `${path} cannot be written`
  const file = orExplain(what, () => {
    makeFile(path)
    return openSync(path, 'w')
  })
  return {
    write(rejected: RejectedRow): void {
      const line = JSON.stringify(rejected)
      // Two writes avoid copying a line of megabytes.
      orExplain(what, () => {
        writeSync(file, line)
        writeSync(file, '\n')
      })
    },
    close: () => closeSync(file),
  }
}

/** Whether two paths name the same file, even through a link or if it does not exist yet. */
function isSameFile(a: string, b: string): boolean {
  const [statA, statB] = [statOf(a), statOf(b)]
  if (statA === undefined || statB === undefined) return resolve(a) === resolve(b)
  return statA.dev === statB.dev && statA.ino === statB.ino
}

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function orExplain<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`${what}: ${reason}`)
  }
}
