// A company at the version that is shown, and at present.

import { useRef } from 'preact/hooks'
import type { Company, CompanyAnswer } from '../answers.ts'
import type { Answer } from '../api.ts'
import { companyPath, isOfPast, queryOf } from '../listing/listing-query.ts'
import { type Loaded, useAnswer } from '../use-answer.ts'

interface FoundCompany {
  /** At the version that is asked for; while that loads, at the one before. */
  readonly company: Company | undefined
  /** At present. */
  readonly now: Company | undefined
  /** Whether both are of the versions that the address asks for. */
  readonly areOfVersion: boolean
  /** The version that is shown; undefined on the way from the present to the past. */
  readonly shown: number | undefined
  /** Whether the key may not see companies. */
  readonly isRefused: boolean
  /** Whether there is no such company or version. */
  readonly isFailed: boolean
  /** The answer at the version that is asked for. */
  readonly loaded: Loaded<Answer<CompanyAnswer>>
}

/** @param query names the version that is asked for; the service refuses what it does not know. */
export function useCompany(id: string, query: URLSearchParams): FoundCompany {
  const isPast = isOfPast(query)
  const path = companyPath(id, new URLSearchParams())
  const loaded = useAnswer<CompanyAnswer>(companyPath(id, query), path)
  const present = useAnswer<CompanyAnswer>(isPast ? path : undefined, path)
  const isRefused = loaded.failure?.kind === 'scope'
  const isFailed = loaded.failure !== undefined && loaded.failure.kind !== 'offline' && !isRefused
  const isOfPlace = ({ path: asked }: Answer<CompanyAnswer>) => isOfPast(queryOf(asked)) === isPast
  // On the way back from the past, the present is known before it is answered again.
  const isThere = isPast || isFailed || (loaded.value !== undefined && isOfPlace(loaded.value))
  const answer = isThere ? loaded.value : (present.value ?? loaded.value)
  const company = answer?.body.company
  // On the way to the past, the present is still known: what depends on it stays as it is.
  const last = useRef(company)
  if (!isPast && isThere) last.current = company
  const known = present.isLoading ? last.current : undefined
  return {
    company,
    now: isPast ? (present.value?.body.company ?? known) : company,
    areOfVersion: [loaded, present].every((one) => !one.isLoading && one.failure === undefined),
    shown: answer !== undefined && isOfPlace(answer) ? answer.version : undefined,
    isRefused,
    isFailed,
    loaded,
  }
}
