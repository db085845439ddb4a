// Readers of a store on Citus: each page is of one version, and only companies whose node is down
// are refused, within a bound.

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import { createMemories, faultOfAnswer, pathOfPage, type Seen } from './answers.ts'
import type { CitusStore } from './citus-store.ts'
import { readTargets } from './generations.ts'
import { firstFault } from './outcome.ts'
import { pages, slowestOf, startReaders } from './readers.ts'
import { fetchPage } from './serving.ts'

// The commands need the processor, too.
const pauseMs = 20

/** How long a refusal may take: less than a statement, since the node is known to be down. */
const refusedMsMax = 2_000

/** What readers have seen. */
export interface Sight {
  readonly found: string
  readonly refusals: number
  /** The number of pages of other companies while a node was down. */
  readonly meanwhile: number
  readonly fault: string | undefined
}

/** Reads pages over several connections; `stop` returns what they have seen. */
export function startCitusReaders(
  { served, companies, course, outages }: CitusStore,
  random: Random,
): { stop(): Promise<Sight> } {
  const { stateAt } = course
  const readers = startReaders({ served, random, companies, stateAt, pauseMs, isSpread: true })
  return {
    async stop() {
      const { answers, fault, lateMs } = await readers.stop()
      const isRefused = ({ status }: { status: number }) => status === 503
      const refused = answers.filter(isRefused)
      const strange = refused.find(({ company, from, to }) => !outages.hasMet(company, from, to))
      const others = answers.filter((one) => !isRefused(one))
      const meanwhile = others.filter(({ from, to }) => outages.isMeanwhile(from, to)).length
      const refusedMs = slowestOf(refused)
      return {
        found:
          `${answers.length} answers, ${refused.length} refused, ${meanwhile} while a node was ` +
          `down, the slowest in ${slowestOf(answers).toFixed(0)} ms`,
        refusals: refused.length,
        meanwhile,
        fault: firstFault(
          fault,
          strange && `company ${strange.company} was refused, and no node was down that it is on`,
          // Delays of this process on a busy machine do not count against the server.
          refusedMs > refusedMsMax + lateMs
            ? `a refusal took ${refusedMs.toFixed(0)} ms`
            : undefined,
        ),
      }
    },
  }
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
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const memoryOf = createMemories()
  const { stateAt } = store.course
  const versions = new Set<number>()
  const statuses = new Set<number>()
  const faults = await Promise.all(
    store.companies.flatMap((company) =>
      readTargets.flatMap((target) =>
        Array.from({ length: pages }, async (_, index) => {
          const page = index + 1
          const path = pathOfPage(company, { target, page }, version)
          const seen = await fetchPatiently(store, agent, path)
          statuses.add(seen.status)
          if (seen.status === 410) return undefined
          versions.add(Number(seen.headers['data-version']))
          const memory = memoryOf(`${company}/${target}`)
          return faultOfAnswer(seen, { target, page, tag: undefined, stateAt, memory })
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
