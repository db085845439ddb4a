// The states of a company: the versions that changed it. The registry has a version for each
// import, most of which did not touch this company. Its answer at any version names the last one
// that did, so the states are found by going back from the present, one request each.

import { createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'
import type { Company, CompanyAnswer } from '../answers.ts'
import { ask, type AskOptions, Failure } from '../api.ts'
import { companyPath } from '../listing/listing-query.ts'
import { type Loaded, useWork, type Work } from '../use-answer.ts'
import { lastTouch } from './versions.ts'

/** How many states are looked up each time. */
const stepLength = 6
/** How many are looked up at most, to reach the one that is shown. */
const stepsMax = 30
/** How many companies are remembered. */
const companiesMax = 100

/** The state before each one, 0 for none; by company and its present state. */
export type KnownStates = Map<string, Map<number, number>>

/** What was looked up with the key in use, so that nobody waits for it twice. */
export const StatesContext = createContext<KnownStates>(new Map())

export interface States {
  /** Versions that touched the company, oldest first; the last is its present state. */
  readonly numbers: readonly number[]
  /** Whether there may be earlier ones. */
  readonly hasMore: boolean
  readonly loaded: Loaded<unknown>
  /** Looks up earlier ones. */
  readonly loadMore: () => void
}

/** Where the search for states begins and ends. */
interface Ends {
  /** The company at present. */
  readonly now: Company | undefined
  /** The state that is shown; 0 if there is none. */
  readonly shown: number
  /** The earliest version that is kept. */
  readonly earliest: number
}

/**
 * @param isAsked whether to look up states; the known ones are returned in any case.
 */
export function useStates(id: string, { now, shown, earliest }: Ends, isAsked: boolean): States {
  const [pages, setPages] = useState(1)
  const known = useContext(StatesContext)
  const last = now === undefined ? 0 : lastTouch(now)
  const company = `${id} ${last}`
  const before = known.get(company) ?? new Map<number, number>()
  const work: Work<readonly number[]> = async (signal, onWait) => {
    if (known.size >= companiesMax) known.delete(known.keys().next().value ?? '')
    known.set(company, before)
    const found = [last]
    for (let at = last; at > 0;) {
      const isEnough = found.length > pages * stepLength && at <= shown
      if (isEnough || found.length > pages * stepLength + stepsMax) break
      const former =
        before.get(at) ?? (at <= earliest ? 0 : await stateBefore(id, at, { signal, onWait }))
      before.set(at, former)
      at = former
      if (at > 0) found.push(at)
    }
    return found
  }
  const name = isAsked && last > 0 ? `${company} ${shown} ${pages}` : undefined
  const loaded = useWork(name, company, work)
  const { value } = loaded
  const found = [...new Set([...(value ?? [last]), ...(shown > 0 ? [shown] : [])])]
    .filter((number) => number > 0)
    .sort((a, b) => a - b)
  // The first version that is kept shows the last state before it; those before that are lost.
  const first = found.findLastIndex((number) => number <= earliest)
  const numbers = found.slice(Math.max(0, first))
  const [oldest = 0] = numbers
  const hasMore = value !== undefined && oldest > earliest && before.get(oldest) !== 0
  return { numbers, hasMore, loaded, loadMore: () => setPages(pages + 1) }
}

/** The state before a version; 0 if the company was not known then, or it is no longer kept. */
async function stateBefore(id: string, version: number, options: AskOptions): Promise<number> {
  try {
    const query = new URLSearchParams({ version: String(version - 1) })
    const { body } = await ask<CompanyAnswer>(companyPath(id, query), options)
    return lastTouch(body.company)
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'missing' || error.kind === 'gone')) return 0
    throw error
  }
}
