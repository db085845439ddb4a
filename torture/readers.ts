// Readers that fetch pages without pause while imports commit: each response must come from one
// import.

import { mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import { faultOfAnswer } from './answers.ts'
import { companiesOf, readTargets, stateAt, targetOf, writeGeneration } from './generations.ts'
import type { Campaign, Ground, Outcome } from './outcome.ts'
import { describeEnd, mustRun, runDossier } from './processes.ts'
import { fetchPage, serve, type Served } from './serving.ts'

const connections = 4
const slowestMs = 250

/**
 * Fetches pages from a real server while imports commit, with and without its page cache; a short
 * form has the cache, which pages that are new to it pass, too.
 */
export const readMeanwhile: Campaign = async function* (ground) {
  mkdirSync(ground.folder, { recursive: true })
  const imports = ground.isShort ? 2 : 20
  const companies = companiesOf(ground)
  for (const cacheMib of ground.isShort ? [64] : [64, 0]) {
    const db = join(ground.folder, `registry-${cacheMib}.db`)
    const file = (version: number) => join(ground.folder, `generation-${version}.ndjson`)
    // Written in advance, since the readers run in this process, too.
    for (let version = 1; version <= imports + 2; version++) {
      writeGeneration(file(version), version, companies)
    }
    const args = (version: number) => [
      ...['import', targetOf(version), file(version), '--snapshot', '--accept', '--db', db],
    ]
    await mustRun(args(1))
    await mustRun(args(2))
    const served = await serve(db, ['--cache-mib', String(cacheMib)])
    try {
      yield* readDuring(ground, served, `a cache of ${cacheMib} MiB`, async () => {
        for (let version = 3; version < 3 + imports; version++) {
          // In a process of its own, since the readers share the time of this one.
          const ended = await runDossier(args(version))
          if (ended.code !== 0) throw new Error(`the import ${describeEnd(ended)}`)
          // Leaves each version time to be read.
          await sleep(50)
        }
      })
    } finally {
      await served.stop()
    }
  }
}

/** Reads over several connections until `work` is done. */
async function* readDuring(
  ground: Ground,
  served: Served,
  what: string,
  work: () => Promise<void>,
): AsyncGenerator<Outcome> {
  const { random, isShort } = ground
  const lateness = monitorEventLoopDelay({ resolution: 5 })
  lateness.enable()
  const readers = Array.from({ length: connections }, (_, index) =>
    startReader({
      ...{ served, random, companies: companiesOf(ground) },
      isConditional: index % 2 === 1,
      isShort,
    }),
  )
  await work()
  const tallies = await Promise.all(readers.map((reader) => reader.stop()))
  lateness.disable()
  const lateMs = lateness.max / 1e6
  yield { what: `${what}: the readers’ own clock`, found: `at most ${lateMs.toFixed(0)} ms late` }
  for (const [index, tally] of tallies.entries()) {
    // Delays of this process on a busy machine do not count against the server.
    const mostMs = isShort ? Infinity : slowestMs + lateMs
    yield outcomeOf(tally, `${what}: connection ${index + 1}`, mostMs)
  }
}

interface Tally {
  readonly answers: number
  readonly notModified: number
  /** The number of registry versions among its responses. */
  readonly versions: number
  readonly slowest: number
  readonly fault: string | undefined
}

function outcomeOf(tally: Tally, what: string, mostMs: number): Outcome {
  const { answers, notModified, versions, slowest } = tally
  return {
    what,
    found:
      `${answers} answers (${notModified} were 304) of ${versions} versions, ` +
      `the slowest in ${slowest.toFixed(0)} ms`,
    fault:
      tally.fault ??
      (slowest > mostMs ? `an answer took longer than ${mostMs.toFixed(0)} ms` : undefined),
  }
}

interface ReaderOptions {
  readonly served: Served
  readonly random: Random
  readonly companies: readonly number[]
  /** Sends the last entity tag of each page, to get a 304 if nothing has changed. */
  readonly isConditional: boolean
  readonly isShort: boolean
}

/** Starts to fetch pages, one after another, over one connection; `stop` returns the tally. */
function startReader(options: ReaderOptions): { stop(): Promise<Tally> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const tags = new Map<string, string>()
  const lineages = new Map<number, string>()
  const versions = new Set<number>()
  let tally = { answers: 0, notModified: 0, slowest: 0, fault: undefined as string | undefined }
  const end = new AbortController()
  let last = 0

  async function readOne(): Promise<void> {
    const target = options.random.pick(readTargets)
    const page = options.random.integer(1, 11)
    const company = options.random.pick(options.companies)
    const path = `/api/v1/companies/${company}/${target}?page=${page}&limit=100`
    const tag = options.isConditional ? tags.get(path) : undefined
    const startedAt = performance.now()
    const seen = await fetchPage(options.served, { agent, path, tag })
    const { status, headers } = seen
    const version = Number(headers['data-version'])
    tally = {
      answers: tally.answers + 1,
      notModified: tally.notModified + (status === 304 ? 1 : 0),
      slowest: Math.max(tally.slowest, performance.now() - startedAt),
      fault: tally.fault ?? faultOfAnswer(seen, { target, page, tag, stateAt, lineages, last }),
    }
    versions.add(version)
    last = version
    if (headers.etag !== undefined) tags.set(path, headers.etag)
  }

  const running = (async () => {
    try {
      while (!end.signal.aborted) {
        await readOne()
        // In the suite, other tests need the processor.
        if (options.isShort) await sleep(10)
      }
    } catch (error) {
      tally.fault ??= `no answer: ${String(error)}`
    }
    agent.destroy()
  })()
  return {
    async stop() {
      end.abort()
      await running
      return { ...tally, versions: versions.size }
    },
  }
}
