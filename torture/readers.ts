// Readers that fetch pages without pause while imports commit: each response must come from one
// import.

import { mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import { type Asked, createMemories, faultOfAnswer, pathOfPage, type Seen } from './answers.ts'
import { createCourse, planImports } from './course.ts'
import { companiesOf, readTargets } from './generations.ts'
import { type Campaign, firstFault, type Outcome } from './outcome.ts'
import { describeEnd, mustRun, runDossier } from './processes.ts'
import { fetchPage, serve, type Served } from './serving.ts'

const connections = 4
/** The pages of a listing, and one past the last. */
export const pages = 11
const slowestMs = 250

/**
 * Fetches pages from a real server while imports commit, with and without its page cache; a short
 * form has the cache, which pages that are new to it pass, too.
 */
export const readMeanwhile: Campaign = async function* (ground) {
  const { folder, random, isShort } = ground
  mkdirSync(folder, { recursive: true })
  const imports = isShort ? 2 : 20
  const companies = companiesOf(ground)
  const course = createCourse(folder, companies)
  // Written in advance, since the readers run in this process, too.
  const [first, second, ...others] = planImports(course, imports + 2)
  for (const cacheMib of isShort ? [64] : [64, 0]) {
    const db = join(folder, `registry-${cacheMib}.db`)
    for (const change of [first, second]) if (change) await mustRun(change.args(db))
    const served = await serve(db, ['--cache-mib', String(cacheMib)])
    try {
      // In the suite, other tests need the processor.
      const pauseMs = isShort ? 10 : 0
      const { stateAt } = course
      const readers = startReaders({ served, random, companies, stateAt, pauseMs, isSpread: false })
      for (const change of others) {
        // In a process of its own, since the readers share the time of this one.
        const ended = await runDossier(change.args(db))
        if (ended.code !== 0) throw new Error(`the import ${describeEnd(ended)}`)
        // Leaves each version time to be read.
        await sleep(50)
      }
      yield outcomeOf(await readers.stop(), `a cache of ${cacheMib} MiB`, isShort)
    } finally {
      await served.stop()
    }
  }
}

function outcomeOf({ answers, fault, lateMs }: Sight, what: string, isShort: boolean): Outcome {
  const slowest = slowestOf(answers)
  const notModified = answers.filter(({ status }) => status === 304).length
  const versions = new Set(answers.map(({ version }) => version)).size
  // Delays of this process on a busy machine do not count against the server.
  const isSlow = !isShort && slowest > slowestMs + lateMs
  return {
    what,
    found:
      `${answers.length} answers (${notModified} were 304) of ${versions} versions, the slowest in ` +
      `${slowest.toFixed(0)} ms; the readers’ own clock was at most ${lateMs.toFixed(0)} ms late`,
    fault: firstFault(fault, isSlow ? `an answer took longer than ${slowestMs} ms` : undefined),
  }
}

/** What is read, and what is right. */
interface Reading {
  readonly served: Served
  readonly random: Random
  readonly companies: readonly number[]
  readonly stateAt: Asked['stateAt']
  /** How long each reader pauses after an answer. */
  readonly pauseMs: number
  /** On several nodes, a listing has an order of its own, and may be refused. */
  readonly isSpread: boolean
}

/** An answer, and when it was asked for and complete. */
interface Answered {
  readonly company: number
  readonly status: number
  readonly version: number
  readonly from: number
  readonly to: number
}

/** What readers have seen. */
interface Sight {
  readonly answers: readonly Answered[]
  readonly fault: string | undefined
  /** How late the clock of this process was, at most. */
  readonly lateMs: number
}

/** The longest time of some answers, in milliseconds. */
export function slowestOf(answers: readonly Answered[]): number {
  return answers.reduce((most, { from, to }) => Math.max(most, to - from), 0)
}

/** Reads pages over several connections; `stop` returns what they have seen. */
export function startReaders(reading: Reading): { stop(): Promise<Sight> } {
  const { served, random, companies, stateAt, isSpread } = reading
  const answers: Answered[] = []
  let fault: string | undefined
  const lateness = monitorEventLoopDelay({ resolution: 5 })
  lateness.enable()
  const end = new AbortController()

  /** @param tags the last ones, by path, to get a 304 if nothing has changed. */
  async function readOne(
    agent: Agent,
    memoryOf: ReturnType<typeof createMemories>,
    tags: Map<string, string> | undefined,
  ): Promise<void> {
    const company = random.pick(companies)
    const target = random.pick(readTargets)
    const page = random.integer(1, pages)
    const path = pathOfPage(company, { target, page })
    const tag = tags?.get(path)
    const from = performance.now()
    const seen = await fetchPage(served, { agent, path, tag })
    const { status, headers } = seen
    const version = Number(headers['data-version'])
    answers.push({ company, status, version, from, to: performance.now() })
    const memory = memoryOf(isSpread ? `${company}/${target}` : 'all')
    fault ??=
      isSpread && status === 503
        ? faultOfRefusedPage(seen)
        : faultOfAnswer(seen, { target, page, tag, stateAt, memory })
    if (headers.etag !== undefined) tags?.set(path, headers.etag)
  }

  const readers = Array.from({ length: connections }, async (_, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const memoryOf = createMemories()
    const tags = index % 2 === 1 ? new Map<string, string>() : undefined
    try {
      while (!end.signal.aborted) {
        await readOne(agent, memoryOf, tags)
        if (reading.pauseMs > 0) await sleep(reading.pauseMs)
      }
    } catch (error) {
      fault ??= `no answer: ${String(error)}`
    }
    agent.destroy()
  })
  return {
    async stop() {
      end.abort()
      await Promise.all(readers)
      lateness.disable()
      return { answers, fault, lateMs: lateness.max / 1e6 }
    },
  }
}

const failure = '{"ok":false,"error":{"code":503,"message":"Service Unavailable"}}'

function faultOfRefusedPage({ body, headers }: Seen): string | undefined {
  return firstFault(
    body === failure ? undefined : `a refusal is ${body.slice(0, 200)}`,
    headers['retry-after'] === undefined ? 'a refusal has no Retry-After' : undefined,
  )
}
