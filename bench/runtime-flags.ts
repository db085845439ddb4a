// What each flag of bin/dossier is worth: node bench/runtime-flags.ts. The same work with all flags
// and without one of them, in turn, each round in processes of their own.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './figures.ts'
import { dossier, folder, makeFile, makeStore, removeStore, rightsOf } from './files.ts'
import { load, type Question, residentMb, run, start } from './processes.ts'

const rounds = 3
const seconds = 4
const root = join(import.meta.dirname, '..')
const runtime = join(root, 'node_modules/.bin/node')
const shape = rightsOf(1e6, 100)

/** A process's flags, variables of the environment written as `NAME=VALUE`. */
type Flags = readonly string[]

const always = ['--disable-warning=ExperimentalWarning', '--disable-sigusr1']
const ofServers = [
  'MALLOC_ARENA_MAX=2',
  '--max-semi-space-size=4',
  '--no-concurrent-array-buffer-sweeping',
]
const ofCommands = [
  ...ofServers.filter((flag) => !/semi-space/.test(flag)),
  '--max-semi-space-size=8',
]

/** What a piece of work cost; all by name, less is better. */
type Cost = Readonly<Record<string, number>>

function command(flags: Flags, args: readonly string[]): string[] {
  const variables = flags.filter((flag) => !flag.startsWith('--'))
  const options = [...always, ...flags.filter((flag) => flag.startsWith('--'))]
  return ['env', ...variables, runtime, ...options, join(root, 'src/main.ts'), ...args]
}

/** Serves pages at random: processor time of a request, p99, and the most memory. */
const serving =
  (db: string, cacheMib: number, question: Question) =>
  async (flags: Flags): Promise<Cost> => {
    const args = ['serve', '--db', db, '--cache-mib', String(cacheMib), '--port']
    await using server = await start((port) => command(flags, [...args, port]))
    await load(server, question, 2)
    const { cpuUs, p99Us } = await load(server, question, seconds)
    return { 'µs a request': cpuUs, 'p99 µs': p99Us, MB: residentMb(server.pid, 'VmHWM') }
  }

/** Imports 200,000 records into a new store: processor time, and the most memory. */
async function importing(flags: Flags): Promise<Cost> {
  const file = makeFile({ ...shape, records: 2e5 })
  const db = join(folder, 'flags.db')
  removeStore(db)
  const { cpuSeconds, peakMb } = await run(command(flags, ['import', 'rights', file, '--db', db]))
  return { 's in all': cpuSeconds, MB: peakMb }
}

/** Prints what work costs without each flag, as a ratio to the cost with all of them. */
async function measure(
  what: string,
  flags: Flags,
  work: (flags: Flags) => Promise<Cost>,
): Promise<void> {
  for (const flag of flags) {
    const ratios = new Map<string, number[]>()
    for (let round = 0; round < rounds; round += 1) {
      const all = await work(flags)
      const less = await work(flags.filter((other) => other !== flag))
      for (const [name, cost] of Object.entries(less)) {
        ratios.set(name, [...(ratios.get(name) ?? []), cost / (all[name] ?? NaN)])
      }
    }
    const cells = [...ratios].map(([name, values]) => {
      const [least, most] = [Math.min(...values), Math.max(...values)]
      return `${name} ${median(values).toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
    })
    console.log(`| ${what} | without \`${flag}\` | ${cells.join(' | ')} |`)
  }
}

/** The table is worth nothing where the launcher gives other flags. */
const launcher = readFileSync(dossier, 'utf8')
for (const flag of [...ofServers, ...ofCommands]) {
  const name = flag.replace(/=.*/, '')
  if (!launcher.includes(name)) console.error(`bin/dossier does not give ${name}`)
}

const { db, key } = makeStore(shape)
const question = { key, path: '/api/v1/companies/{}/rights', companies: 1e4 }
await measure('pages at random, cache off', ofServers, serving(db, 0, question))
const packed = { ...question, coding: 'gzip' }
await measure('the same in gzip, cache of 64 MiB', ofServers, serving(db, 64, packed))
await measure('import of 200,000 records', ofCommands, importing)
