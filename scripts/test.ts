// Runs the parts of the suite that are named: `npm test` those that need minutes and no other
// program, `npm run test:more` the rest.

import { spawn } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { globalSetup, globalTeardown } from '../test/support/postgres-setup.ts'
import { readOptions } from '../test/support/script-options.ts'
import { dearestFiles } from './dearest-files.ts'
import { failedFilesIn, failuresIn } from './failing-tests.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

const root = join(import.meta.dirname, '..')

const partNames = ['check', 'unit', 'sqlite', 'bounds', 'explorer', 'postgres'] as const
type PartName = (typeof partNames)[number]

/** The parts of a lane run one after the other; the lanes take about as long as each other. */
const lanes: readonly (readonly PartName[])[] = [
  ['sqlite', 'bounds', 'explorer'],
  ['check', 'unit', 'postgres'],
]

/**
 * Where the rule of a test depends on the store, its file is in both: what is above the stores gets
 * the same bytes from each, which test/postgres/same-bytes.test.ts shows.
 */
const files = {
  unit: ['test/unit/**/*.test.ts'],
  sqlite: ['test/*.test.ts', 'test/{api,cli,import,store,sqlite}/**/*.test.ts'],
  postgres: [
    'test/{store,postgres}/**/*.test.ts',
    'test/api/{cache,changes,companies,company,company-names,connections}.test.ts',
    'test/api/{cursors,exports,keys,paging.properties}.test.ts',
    'test/api/{reliability,sixth-resource,stop,versions}.test.ts',
    'test/import/{history,import,names,snapshot,survival}.test.ts',
    'test/import/{types-limit,values}.test.ts',
    'test/cli/{commands,export,history,listing,recipe,revert}.test.ts',
  ],
  bounds: ['test/bounds/*.test.ts'],
  explorer: ['test/explorer/*.test.ts'],
} as const

/** The store of each part whose tests have one. */
const stores: Partial<Record<PartName, string>> = {
  sqlite: 'sqlite',
  bounds: 'sqlite',
  explorer: 'sqlite',
  postgres: 'postgres',
}

/**
 * What needs a process of its own: a file that starts others, has threads, or changes its
 * environment. All other files of a part share one, where modules are loaded once and run hot.
 */
const ownProcess = [
  /child_process|worker_threads|useOwnDatabase/,
  /\b(run|start|runAll)(Bench|Citus|Dossier|Fuzzed|Postgres|Redis|Server|Short)\(/,
]

/** The niceness of all processes of the suite: of 0 to 19, where imports have 19. */
const suitePriority = 9

/** More files than a busy machine makes fail. */
const repeatedMax = 5

/** What a process does: it runs tests, or the checks. */
interface Run {
  readonly name: PartName
  readonly files: readonly string[]
  /** Whether the files share the process. */
  readonly isShared: boolean
}

interface Outcome extends Run {
  readonly isPassed: boolean
  /** The counts of Node's test runner by the names that it prints. */
  readonly counts: Readonly<Record<string, number>>
  /** All that the part printed. */
  readonly printed: string
}

const given = readOptions({
  name: 'test',
  summary: 'Checks types, lint and format, and runs the tests.',
  flags: { dearest: 'also prints the ten files that took most processor time, of each store' },
  words: { meaning: 'Parts to run (npm test: the first three)', known: partNames },
})
/** How many lines show why a process ended early. */
const lastLines = 100
const startedAt = performance.now()
const temporary = makeTemporaryFolder()
process.env['TMPDIR'] = temporary
process.env['DOSSIER_TEST_SHARED'] = temporary
// Nearer to that of imports, which otherwise hardly get on beside all other tests.
setPriority(Math.max(getPriority(), suitePriority))
const isGiven = (name: PartName) => given.words.includes(name)
const chosen = lanes.map((lane) => lane.filter(isGiven)).filter((lane) => lane.length > 0)
const runs = partNames.filter(isGiven).flatMap(runsOf)

// Each part ends by itself at a signal, which a terminal sends to all; the folder is removed then.
process.on('SIGINT', () => undefined)
try {
  const outcomes = (await Promise.all(chosen.map(runLane))).flat()
  const failed = outcomes.filter(({ isPassed }) => !isPassed)
  for (const outcome of failed) console.log(failuresOf(outcome))
  const lasting: Outcome[] = []
  for (const outcome of failed) if (!(await passesAlone(outcome))) lasting.push(outcome)
  console.log(summary(outcomes, failed, lasting))
  process.exitCode = lasting.length === 0 ? 0 : 1
} finally {
  if (isGiven('postgres')) await globalTeardown()
  rmSync(temporary, { recursive: true, force: true })
}

async function runLane(lane: readonly PartName[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const name of lane) {
    if (name === 'postgres') await globalSetup()
    const ofPart = runs.filter((run) => run.name === name)
    outcomes.push(...(await Promise.all(ofPart.map((one) => run(one)))))
  }
  return outcomes
}

function runsOf(name: PartName): Run[] {
  if (name === 'check') return [{ name, files: [], isShared: false }]
  const all = globSync(files[name], { cwd: root }).sort()
  const hasOwn = (file: string) => {
    const text = readFileSync(join(root, file), 'utf8')
    return name !== 'unit' && (isCounted(name) || ownProcess.some((one) => one.test(text)))
  }
  return [
    { name, files: all.filter((file) => !hasOwn(file)), isShared: true },
    { name, files: all.filter(hasOwn), isShared: false },
  ].filter((run) => run.files.length > 0)
}

/** The failures of a part once more, near the end of the output. */
function failuresOf({ name, printed }: Outcome): string {
  const last = () => printed.split('\n').slice(-lastLines).join('\n')
  return `\n${name}: ${failuresIn(printed) || last()}`
}

/**
 * Runs the failed files again, one at a time, with nothing beside them: whether a change is good is
 * not decided by what else a machine does. The summary names the files, so that they are mended.
 */
async function passesAlone({ name, printed, isShared, files, counts }: Outcome): Promise<boolean> {
  const failed = failedFilesIn(printed)
  // A process that ends early takes the other files with it.
  const again = isShared && counts['pass'] === undefined ? files : failed
  if (again.length === 0 || failed.length > repeatedMax) return false
  console.log(`\n${name}, failed files again, alone:`)
  return (await run({ name, files: again, isShared: false })).isPassed
}

function run(one: Run): Promise<Outcome> {
  const { name } = one
  const account = join(temporary, `${name}-account`)
  const child = spawn(process.execPath, argumentsOf(one), {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/dossier'),
      ...(stores[name] && { DOSSIER_TEST_STORE: stores[name] }),
      ...(isCounted(name) && { DOSSIER_TEST_ACCOUNT: account }),
    },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      printed += `${line}\n`
      console.log(`${name.padEnd(8)} ${line}`)
    })
  }
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => {
      if (isCounted(name)) console.log(dearestFiles(account, name))
      const counts = countsIn(printed)
      // A runner that ends early prints no counts.
      const isComplete = name === 'check' || counts['pass'] !== undefined
      done({ ...one, isPassed: code === 0 && isComplete, counts, printed })
    })
  })
}

function argumentsOf(one: Run): string[] {
  const { name, files, isShared } = one
  if (name === 'check') return ['scripts/check.ts']
  // Files that failed are run again one at a time.
  const atOnce = runs.includes(one) ? filesAtOnce(name) : 1
  return [
    '--test',
    '--test-reporter=spec',
    isShared ? '--test-isolation=none' : `--test-concurrency=${atOnce}`,
    ...(stores[name] ? ['--import', './test/support/end-process.ts'] : []),
    ...(isCounted(name) ? ['--import', './test/support/processor-account.ts'] : []),
    ...files,
  ]
}

/** Whether the processor time of the part's files is counted. */
function isCounted(name: PartName): boolean {
  return name in stores && given.has('dearest')
}

/**
 * How many files run at a time, beside those that share a process. Half of them wait for
 * something, such as a server that stops; where both stores are tested, SQLite has more to do.
 */
function filesAtOnce(name: PartName): number {
  const all = Math.min(8, availableParallelism() * 2)
  if (chosen.length === 1 || !isGiven('sqlite')) return Math.max(1, all - 1)
  return Math.ceil(all * (name === 'sqlite' ? 0.75 : 0.25))
}

function countsIn(printed: string): Outcome['counts'] {
  const found = [...printed.matchAll(/^ℹ (pass|fail|cancelled|skipped) (\d+)$/gm)]
  return Object.fromEntries(found.map(([, name = '', count]) => [name, Number(count)]))
}

/** The last lines: all parts together, and the files that failed beside others only. */
function summary(
  outcomes: readonly Outcome[],
  failed: readonly Outcome[],
  lasting: readonly Outcome[],
): string {
  const sum = (name: string) => outcomes.reduce((all, { counts }) => all + (counts[name] ?? 0), 0)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  const counts = [
    `${sum('pass')} passed`,
    `${sum('fail') + sum('cancelled')} failed`,
    `${sum('skipped')} skipped`,
  ]
  const unsteady = failed.filter((outcome) => !lasting.includes(outcome))
  const names = (some: readonly Outcome[]) => [...new Set(some.map(({ name }) => name))].join(', ')
  const line = [
    `${lasting.length === 0 ? '✔' : '✖'} ${given.words.join(', ')}: ${counts.join(', ')}`,
    `in ${Math.floor(seconds / 60)} min ${seconds % 60} s`,
    ...(lasting.length > 0 ? [`(failed: ${names(lasting)})`] : []),
  ].join(' ')
  return [
    ...unsteady.map(({ name, printed }) => {
      const where = failedFilesIn(printed).join(', ') || 'the process that files share'
      return `⚠ ${name}: failed beside other tests, passed alone (mend it): ${where}`
    }),
    line,
  ].join('\n')
}
