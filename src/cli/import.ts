// `dossier import`: loads files into the store, all or nothing.

import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from '../config.ts'
import { importFiles, type RejectedRow } from '../import/import-files.ts'
import type { ImportTarget } from '../import/import-target.ts'
import { importTargets } from '../import/import-targets.ts'
import { Refusal } from '../import/refusal.ts'
import { findSourceFiles, type Format, formats, type SourceFile } from '../import/source-file.ts'
import { normaliseTimestamp } from '../import/timestamp.ts'
import { nearest } from '../nearest.ts'
import { makeFile } from '../new-file.ts'
import { OperatorError } from '../operator-error.ts'
import { changeResource, resources } from '../resources/index.ts'
import { openStoreForTrial, openStoreWriter, storeFiles } from '../store/open-store.ts'
import type { Command, CommandContext, Input } from './command.ts'
import { printReport } from './import-report.ts'
import { createProgress } from './progress.ts'

const targets = importTargets(resources)
const historical = resources.filter(({ history }) => history).map(({ name }) => name)
const mappingsFolder = join(import.meta.dirname, '../../mappings')

export const importCommand: Command = {
  name: 'import',
  summary: 'load companies, or records of a resource, from files',
  synopsis: [
    'import companies FILE… [OPTIONS]',
    `import {${resources.map(({ name }) => name).join('|')}} FILE… [OPTIONS]`,
  ],
  details: `
FILE is NDJSON, JSON, CSV, TSV or Parquet, plain, .gz or .zst; a quoted glob ('*.csv') names
several, and - is NDJSON on standard input. All files are one import: one transaction, all or
nothing.

Columns bear the field names of the resource, beside these:
  company_id, or company_jurisdiction and company_identifier    whose record it is
  id, or key    which record it is: its number, or the source's own natural key; with neither, the
                same content is the same record
Companies have jurisdiction, identifier, if you like an id, and any attributes.
Other columns? Reshape the file with --map, a SQL SELECT over the view \`source\` (DuckDB's SQL).

  dossier import companies companies.csv
  dossier import rights 'extracts/*.ndjson.gz' --source patent-office
  dossier import jobs jobs.csv --map my-jobs.sql --rejects refused.ndjson
  dossier import employees officers.parquet --source register --snapshot

A newer extract of companies, dated with --as-of, records what has changed since the last one of
its source as ${changeResource.name}; so does one of employees with --history.

  dossier import companies 2026-11.csv --source register --snapshot --as-of 2026-11-30`,
  options: [
    {
      name: 'map',
      value: 'FILE.sql',
      meaning: 'a SELECT over the view source (./my.sql), or the name of a ready one (ba-atms)',
    },
    {
      name: 'map-read',
      value: 'DIR[,DIR]',
      meaning: 'folders whose files the mapping may read too; without it, none but the source',
    },
    {
      name: 'source',
      value: 'NAME',
      meaning: "whose records these are; two sources never touch each other's (default: default)",
    },
    {
      name: 'snapshot',
      meaning: 'the files are the whole of this source: what they lack is removed',
    },
    {
      name: 'as-of',
      value: 'DATE',
      meaning:
        'the day of the extract (2026-11-30); changes of companies are recorded as of it, or as ' +
        'of the column as_of',
    },
    {
      name: 'history',
      meaning: `record changes of the listing, too: for ${historical.join(', ')}, with --as-of`,
    },
    {
      name: 'rejects',
      value: 'FILE',
      meaning: 'load the good rows, and write the refused ones here (NDJSON) with their reasons',
    },
    {
      name: 'known-companies-only',
      meaning: 'refuse records of companies that the registry does not know',
    },
    { name: 'dry-run', meaning: 'check everything and change nothing' },
    {
      name: 'format',
      value: 'FORMAT',
      meaning: `what the files are, where their names do not say: ${formats.join(', ')}`,
    },
    { name: 'json', meaning: 'print the report as JSON' },
  ],
  settings: ['db'],
  run: runImport,
}

async function runImport(input: Input, context: CommandContext): Promise<number> {
  // A server on the same machine goes first: its clients wait, an import does not mind.
  setPriority(constants.priority.PRIORITY_LOW)
  const { flags, options, settings } = input
  const [word, ...words] = input.words
  const target = parseTarget(word)
  if (words.length === 0) throw new UsageError(`name the files to import ${target.name} from`)
  const files = findSourceFiles(words, parseFormat(options['format']))
  const mapping = options['map'] === undefined ? undefined : findMapping(options['map'])
  const mappingFolders = findFolders(options['map-read'], mapping !== undefined)
  const source = parseSource(options['source'])
  const history = parseHistory(target, input)
  const inUse = [...files.map(({ name }) => name), mapping?.path, ...storeFiles(settings.db)]
  const rejects =
    options['rejects'] === undefined ? undefined : openRejects(options['rejects'], inUse)
  const isDryRun = flags.has('dry-run')
  const open = isDryRun ? openStoreForTrial : openStoreWriter
  const store = await open(settings.db, resources)
  const progress = createProgress(context, totalBytes(files))
  try {
    const report = await importFiles(store, {
      target,
      files,
      mapping: mapping?.sql,
      mappingFolders,
      source,
      isSnapshot: flags.has('snapshot'),
      isDryRun,
      ...history,
      knownCompaniesOnly: flags.has('known-companies-only'),
      onRejected: rejects && ((rejected) => rejects.write(rejected)),
      onProgress: (done) => progress.show(done),
      onWait: () =>
        progress.writeLine('another command is writing to the store; waiting for its end'),
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

function parseTarget(word: string | undefined): ImportTarget {
  const target = targets.find(({ name }) => name === word)
  if (target !== undefined) return target
  const names = targets.map(({ name }) => name)
  const known = names.join(', ')
  if (word === undefined) throw new UsageError(`say what to import: ${known}`)
  const near = nearest(word, names)
  const advice = near ? `did you mean ${near}?` : `known are ${known}`
  throw new UsageError(`${word} cannot be imported; ${advice}`)
}

function parseFormat(word: string | undefined): Format | undefined {
  const format = formats.find((known) => known === word)
  if (word !== undefined && format === undefined) {
    throw new UsageError(`--format is ${word}; it must be one of ${formats.join(', ')}`)
  }
  return format
}

/** Of which day the extract is, and where its changes are recorded. */
function parseHistory({ name, history, hasRowDays }: ImportTarget, { options, flags }: Input) {
  const word = options['as-of']
  const asOf = word === undefined ? undefined : normaliseTimestamp(word, 'seconds')
  if (asOf instanceof Refusal) {
    throw new UsageError(`--as-of is ${JSON.stringify(word)}; it ${asOf.reason}`)
  }
  const isHistory = flags.has('history')
  if (isHistory && history === undefined) {
    throw new UsageError(`${name} have no history; --history is for ${historical.join(', ')}`)
  }
  if (isHistory && !hasRowDays && asOf === undefined) {
    throw new UsageError('--history needs the day of the extract: --as-of DATE')
  }
  const isRecorded = isHistory || history?.isOptional === false
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

/**
 * A mapping: a name alone is that of a ready one, whatever lies in the folder; a path, or what ends
 * in .sql, is a file.
 */
function findMapping(word: string): { path: string; sql: string } {
  const isFile = /[/\\]|\.sql$/i.test(word)
  const path = isFile ? word : join(mappingsFolder, `${word}.sql`)
  if (!existsSync(path)) {
    const names = readdirSync(mappingsFolder).map((name) => name.replace(/\.sql$/, ''))
    const near = nearest(word.replace(/\.sql$/i, ''), names)
    const ready = near ? `did you mean ${near}?` : `ready ones: ${names.join(', ')}`
    const isHere = !isFile && existsSync(word)
    const advice = isHere ? `for the file of that name, write ./${word}` : ready
    throw new OperatorError(`there is no mapping ${word}; ${advice}`)
  }
  return { path, sql: orExplain(`${path} cannot be read`, () => readFileSync(path, 'utf8')) }
}

/** The folders that a mapping may read, as the system calls them. */
function findFolders(words: string | undefined, isMapped: boolean): string[] {
  if (words === undefined) return []
  if (!isMapped) throw new UsageError('--map-read is for a mapping; name that with --map')
  return words.split(',').map((word) => {
    if (statOf(word)?.isDirectory() !== true) {
      throw new UsageError(`--map-read ${word} is no folder`)
    }
    return realpathSync(word)
  })
}

function totalBytes(files: readonly SourceFile[]): number | undefined {
  let total = 0
  for (const { size } of files) {
    if (size === undefined) return undefined
    total += size
  }
  return total
}

/** The file of refused rows; made before the import begins, so that nothing is lost at its end. */
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
      // A line of megabytes is not copied for its end.
      orExplain(what, () => {
        writeSync(file, line)
        writeSync(file, '\n')
      })
    },
    close: () => closeSync(file),
  }
}

/** Whether two paths lead to one file, also by a link, and also where it is not there yet. */
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
