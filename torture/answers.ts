// Checks that a response is consistent: all of it comes from one import.

import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type ListingState, metaOf, type ReadTarget, totalOf } from './generations.ts'

/** A response. */
export interface Seen {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A request for a page, and what earlier responses have shown. */
export interface Asked {
  readonly target: ReadTarget
  readonly page: number
  /** The entity tag that was sent with it. */
  readonly tag: string | undefined
  /** The state of the listing at a version of the registry. */
  readonly stateAt: (target: ReadTarget, version: number) => ListingState
  readonly memory: Memory
}

/** What the responses on a connection have shown so far. */
interface Memory {
  /** The lineage in the tags of each state, by its version. */
  readonly lineages: Map<number, string>
  /** The registry version of the last response. */
  last: number
}

/** Returns a function that returns what has been seen of something, nothing at first. */
export function createMemories(): (of: string) => Memory {
  const memories = new Map<string, Memory>()
  return (of) => {
    const memory = memories.get(of) ?? { lineages: new Map<number, string>(), last: 0 }
    memories.set(of, memory)
    return memory
  }
}

interface Listing {
  readonly total: number
  readonly pagination_total: number
  readonly meta?: unknown
  readonly rights?: readonly { readonly name: string }[]
  readonly events?: readonly { readonly after: string }[]
}

const limit = 100

/** The path of a page, which may be of a version. */
export function pathOfPage(
  company: number,
  { target, page }: Pick<Asked, 'target' | 'page'>,
  version?: number,
): string {
  const pinned = version === undefined ? '' : `&version=${version}`
  return `/api/v1/companies/${company}/${target}?page=${page}&limit=${limit}${pinned}`
}

/** Returns what is wrong with a response; undefined if all of it comes from one import. */
export function faultOfAnswer(seen: Seen, asked: Asked): string | undefined {
  const { status, headers, body } = seen
  const version = Number(headers['data-version'])
  const at = `${asked.target} page ${asked.page} of version ${version}: `
  if (status !== 200 && status !== 304) return `${at}status ${status}: ${body.slice(0, 200)}`
  const { memory } = asked
  if (version < memory.last) return `${at}went back from version ${memory.last}`
  memory.last = version
  const { generation, since } = asked.stateAt(asked.target, version)
  const fault = faultOfTag(headers.etag ?? '', since, asked)
  if (fault !== undefined) return at + fault
  if (status === 304) {
    return headers.etag === asked.tag ? undefined : `${at}304 for another tag than ${asked.tag}`
  }
  const wrong = faultOfListing(JSON.parse(body) as Listing, generation, asked)
  return wrong === undefined ? undefined : at + wrong
}

/** Each state has one lineage, different from that of any other. */
function faultOfTag(tag: string, since: number, asked: Asked): string | undefined {
  const lineage = /^W\/"([0-9a-f]{16})\/api\/[^"]+"$/.exec(tag)?.[1]
  if (lineage === undefined) return `the tag ${tag} is none`
  const known = asked.memory.lineages.get(since)
  if (known === undefined && ![...asked.memory.lineages.values()].includes(lineage)) {
    asked.memory.lineages.set(since, lineage)
    return undefined
  }
  return known === lineage ? undefined : `the tag ${tag} is not of version ${since}`
}

function faultOfListing(listing: Listing, generation: number, asked: Asked): string | undefined {
  const total = totalOf(generation)
  const texts =
    asked.target === 'rights'
      ? listing.rights?.map(({ name }) => name)
      : listing.events?.map(({ after }) => after)
  const strange = texts?.find((text) => text !== `generation ${generation}`)
  if (strange !== undefined) return `a record is of ${strange}, not of ${generation}`
  const expected = Math.min(limit, Math.max(0, total - (asked.page - 1) * limit))
  if (texts?.length !== expected) return `${texts?.length} records instead of ${expected}`
  if (listing.total !== total || listing.pagination_total !== total) {
    return `total ${listing.total}, pagination_total ${listing.pagination_total}, not ${total}`
  }
  if (asked.target === 'events' && !isDeepStrictEqual(listing.meta, metaOf(generation))) {
    return `meta is of another import: ${JSON.stringify(listing.meta)}`
  }
  return undefined
}
