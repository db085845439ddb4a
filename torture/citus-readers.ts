// Readers of a store on Citus: each page is of one version, and only companies whose node is down
// are refused, within a bound.

import { Agent } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import { type Asked, faultOfAnswer, type Seen } from './answers.ts'
import type { CitusStore } from './citus-store.ts'
import { type ReadTarget, readTargets } from './generations.ts'
import { firstFault } from './outcome.ts'
import { fetchPage } from './serving.ts'

const pages = 11
const connections = 4
// The commands need the processor, too.
const pauseMs = 20

/** How long a refusal may take: less than a statement, since the node is known to be down. */
const refusedMsMax = 2_000

const failure = '{"ok":false,"error":{"code":503,"message":"Service Unavailable"}}'

/** What readers have seen. */
export interface Sight {
  readonly answers: number
  readonly refusals: number
  /** The number of pages of other companies while a node was down. */
  readonly meanwhile: number
  /** The longest time of an answer, in milliseconds. */
  readonly slowest: number
  readonly fault: string | undefined
}

export function describe({ answers, refusals, meanwhile, slowest }: Sight): string {
  return (
    `${answers} answers, ${refusals} refused, ${meanwhile} while a node was down, ` +
    `the slowest in ${slowest.toFixed(0)} ms`
  )
}

/** What is known of the tags and versions of each company. */
function createMemory() {
  const lineages = new Map<string, Map<number, string>>()
  const lasts = new Map<string, number>()
  return {
    lineagesOf(listing: string): Map<number, string> {
      const known = lineages.get(listing) ?? new Map<number, string>()
      lineages.set(listing, known)
      return known
    },
    lastOf: (listing: string) => lasts.get(listing) ?? 0,
    noteVersion: (listing: string, version: number) => void lasts.set(listing, version),
  }
}

/** Reads pages over several connections, without pause; `stop` returns what they have seen. */
export function startReaders(store: CitusStore, random: Random): { stop(): Promise<Sight> } {
  const sight = { answers: 0, refusals: 0, meanwhile: 0, slowest: 0 }
  let fault: string | undefined
  let slowestRefusal = 0
  const lateness = monitorEventLoopDelay({ resolution: 5 })
  lateness.enable()
  const end = new AbortController()

  async function read(agent: Agent, memory: ReturnType<typeof createMemory>): Promise<void> {
    const company = random.pick(store.companies)
    const target = random.pick(readTargets)
    const page = random.integer(1, pages)
    const from = performance.now()
    const seen = await fetchPage(store.served, {
      agent,
      path: pathOf(company, target, page),
      tag: undefined,
    })
    const to = performance.now()
    sight.answers += 1
    sight.slowest = Math.max(sight.slowest, to - from)
    if (seen.status === 503) {
      sight.refusals += 1
      slowestRefusal = Math.max(slowestRefusal, to - from)
      fault ??= faultOfRefusedPage(seen)
      if (!store.outages.hasMet(company, from, to)) {
        fault ??= `company ${company} was refused, and no node was down that it is on`
      }
      return
    }
    const listing = `${company}/${target}`
    fault ??= faultOfAnswer(seen, askedOf(store, memory, { listing, target, page }))
    memory.noteVersion(listing, Number(seen.headers['data-version']))
    if (store.outages.isMeanwhile(from, to)) sight.meanwhile += 1
  }

  const readers = Array.from({ length: connections }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const memory = createMemory()
    try {
      while (!end.signal.aborted) {
        await read(agent, memory)
        await sleep(pauseMs)
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
      // Delays of this process on a busy machine do not count against the server.
      const isSlow = slowestRefusal > refusedMsMax + lateness.max / 1e6
      const slow = isSlow ? `a refusal took ${slowestRefusal.toFixed(0)} ms` : undefined
      return { ...sight, fault: firstFault(fault, slow) }
    },
  }
}

function pathOf(company: number, target: ReadTarget, page: number, version?: number): string {
  const pinned = version === undefined ? '' : `&version=${version}`
  return `/api/v1/companies/${company}/${target}?page=${page}&limit=100${pinned}`
}

function askedOf(
  { course }: CitusStore,
  memory: ReturnType<typeof createMemory>,
  { listing, target, page }: { listing: string; target: ReadTarget; page: number },
): Asked {
  return {
    ...{ target, page, tag: undefined },
    stateAt: (which, version) => course.stateAt(which, version),
    lineages: memory.lineagesOf(listing),
    last: memory.lastOf(listing),
  }
}

function faultOfRefusedPage({ body, headers }: Seen): string | undefined {
  return firstFault(
    body === failure ? undefined : `a refusal is ${body.slice(0, 200)}`,
    headers['retry-after'] === undefined ? 'a refusal has no Retry-After' : undefined,
  )
}

/** What all pages of all companies are. */
export interface Whole {
  /** The versions that were answered. */
  readonly versions: ReadonlySet<number>
  /** Whether all are gone, since the version was pruned. */
  readonly isGone: boolean
  readonly fault: string | undefined
}

/**
 * Reads every page of every company.
 *
 * @param version if not the last one.
 */
export async function readWhole(store: CitusStore, version?: number): Promise<Whole> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const memory = createMemory()
  const versions = new Set<number>()
  const statuses = new Set<number>()
  const faults = await Promise.all(
    store.companies.flatMap((company) =>
      readTargets.flatMap((target) =>
        Array.from({ length: pages }, async (_, index) => {
          const path = pathOf(company, target, index + 1, version)
          const seen = await fetchPatiently(store, agent, path)
          statuses.add(seen.status)
          if (seen.status === 410) return undefined
          versions.add(Number(seen.headers['data-version']))
          const asked = askedOf(store, memory, {
            ...{ listing: `${company}/${target}`, target, page: index + 1 },
          })
          return faultOfAnswer(seen, asked)
        }),
      ),
    ),
  )
  agent.destroy()
  const isGone = statuses.has(410)
  const isMixed = isGone && statuses.size > 1
  return {
    versions,
    isGone,
    fault: firstFault(...faults, isMixed ? 'only some pages are gone' : undefined),
  }
}

const patienceMs = 10_000

/** Fetches a page; again if it is refused, since a node may have come back just now. */
async function fetchPatiently({ served }: CitusStore, agent: Agent, path: string): Promise<Seen> {
  for (const end = performance.now() + patienceMs; ; await sleep(100)) {
    const seen = await fetchPage(served, { agent, path, tag: undefined })
    if (seen.status !== 503 || performance.now() > end) return seen
  }
}
