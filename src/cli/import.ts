// `dossier import`: loads files into the store, all or nothing.

import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '../config.ts'
import { type ImportReport, importFiles, type RejectedRow } from '../import/import-files.ts'
import { describeProblem } from '../import/refusal.ts'
import { findSourceFiles, type Format, formats, type SourceFile } from '../import/source-file.ts'
import { nearest } from '../nearest.ts'
import { OperatorError } from '../operator-error.ts'
import { resources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'
import { openStoreForTrial, openStoreWriter } from '../store/open-store.ts'
import type { Command, CommandContext, Input } from './command.ts'
import { createProgress } from './progress.ts'

const companiesWord = 'companies'
const targets = [companiesWord, ...resources.map(({ name }) => name)]
const mappingsFolder = join(import.meta.dirname, '../../mappings')

export const importCommand: Command = {
  name: 'import',
  summary: 'load companies, or records of a resource, from files',
  usage: [
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
  dossier import employees officers.parquet --source register --snapshot`,
  options: [
    {
      name: 'map',
      value: 'FILE.sql',
      meaning: `a SELECT over the view source; or the name of a ready one in mappings/`,
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
  const { switches, options, settings } = input
  const [target, ...words] = input.words
  const resource = parseTarget(target)
  if (words.length === 0) throw new UsageError(`name the files to import ${target} from`)
  const files = findSourceFiles(words, parseFormat(options['format']))
  const mapping = options['map'] === undefined ? undefined : readMapping(options['map'])
  const source = parseSource(options['source'])
  const rejects =
    options['rejects'] === undefined ? undefined : openRejects(options['rejects'], files)
  const isDryRun = switches.has('dry-run')
  const open = isDryRun ? openStoreForTrial : openStoreWriter
  const store = await open(settings.db, resources)
  const progress = createProgress(context, totalBytes(files))
  try {
    const report = await importFiles(store, {
      resource,
      files,
      mapping,
      source,
      isSnapshot: switches.has('snapshot'),
      isDryRun,
      knownCompaniesOnly: switches.has('known-companies-only'),
      onRejected: rejects && ((rejected) => rejects.write(rejected)),
      onProgress: (done) => progress.show(done),
      onWait: () => progress.tell('another command is writing to the store; waiting for its end'),
      signal: context.signal,
    })
    progress.end()
    tellReport(report, { input, context, target: target ?? '', isDryRun })
    return report.counts.refused > 0 && rejects === undefined ? 1 : 0
  } finally {
    progress.end()
    rejects?.close()
    await store.close()
  }
}

function parseTarget(word: string | undefined): Resource | undefined {
  if (word === companiesWord) return undefined
  const resource = resources.find(({ name }) => name === word)
  if (resource !== undefined) return resource
  const known = targets.join(', ')
  if (word === undefined) throw new UsageError(`say what to import: ${known}`)
  const near = nearest(word, targets)
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

function parseSource(word = 'default'): string {
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(word)) {
    throw new UsageError(
      `--source is ${JSON.stringify(word)}; it takes up to 64 letters, digits, dots, _ and -`,
    )
  }
  return word
}

/** A mapping by its path, or by its name among the ready ones. */
function readMapping(word: string): string {
  const ready = join(mappingsFolder, word.endsWith('.sql') ? word : `${word}.sql`)
  const path = existsSync(word) ? word : ready
  if (!existsSync(path)) {
    const names = readdirSync(mappingsFolder).map((name) => name.replace(/\.sql$/, ''))
    const near = nearest(word, names)
    const advice = near ? `did you mean ${near}?` : `give a file, or one of: ${names.join(', ')}`
    throw new OperatorError(`there is no mapping ${word}; ${advice}`)
  }
  return readFileSync(path, 'utf8')
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
function openRejects(path: string, files: readonly SourceFile[]) {
  const isSource = files.some(({ name }) => resolve(name) === resolve(path))
  if (isSource) throw new UsageError(`--rejects ${path} is one of the files to import`)
  const file = orExplain(path, () => openSync(path, 'w'))
  return {
    write(rejected: RejectedRow): void {
      orExplain(path, () => writeSync(file, `${JSON.stringify(rejected)}\n`))
    },
    close: () => closeSync(file),
  }
}

function orExplain<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`${path} cannot be written: ${reason}`)
  }
}

interface ReportOptions {
  readonly input: Input
  readonly context: CommandContext
  readonly target: string
  readonly isDryRun: boolean
}

function tellReport(report: ImportReport, options: ReportOptions): void {
  const { stdout, stderr } = options.context
  if (options.input.switches.has('json')) {
    stdout.write(`${JSON.stringify({ resource: options.target, ...report })}\n`)
    return
  }
  for (const problem of report.problems) stderr.write(`${describeProblem(problem)}\n`)
  const untold = report.counts.refused - report.problems.length
  if (untold > 0) stderr.write(`… and ${format(untold)} more\n`)
  stdout.write(`${reportLines(report, options).join('\n')}\n`)
}

function reportLines(
  { counts, version, elapsedMs }: ImportReport,
  options: ReportOptions,
): string[] {
  const rows: readonly (readonly [string, number])[] = [
    ['read', counts.read],
    ['inserted', counts.inserted],
    ['updated', counts.updated],
    ['unchanged', counts.unchanged],
    ['refused', counts.refused],
    ['removed', counts.removed],
    ['companies created', counts.companiesCreated],
  ]
  const rate = Math.round(counts.read / Math.max(elapsedMs / 1_000, 0.001))
  const took = `in ${(elapsedMs / 1_000).toFixed(1)} s (${format(rate)} rows/s)`
  return [
    `${options.target} of the source ${options.input.options['source'] ?? 'default'}`,
    ...rows.map(([name, count]) => `  ${name.padEnd(18)}${format(count).padStart(14)}`),
    outcome(counts.refused, version, options.isDryRun, took),
  ]
}

function outcome(
  refused: number,
  version: number | undefined,
  isDryRun: boolean,
  took: string,
): string {
  if (version !== undefined) return `Committed as version ${version} ${took}.`
  if (isDryRun) return `Dry run: nothing was changed; checked ${took}.`
  const rows = refused === 1 ? '1 row was' : `${format(refused)} rows were`
  return `Nothing was loaded: ${rows} refused. Mend them, or load the others with --rejects FILE.`
}

function format(count: number): string {
  return count.toLocaleString('en')
}
