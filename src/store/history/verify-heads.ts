// Verifies the heads of a company's listings against the segments to which they lead.

import { metaTypesMax } from '../../resources/resource.ts'
import { decodeDirectory, decodeNode, type DirectoryEntry } from '../listing/directory.ts'
import { compareOrder } from '../listing/merge.ts'
import { metaText, type ListingShape } from '../listing/shape.ts'
import { keysOf } from '../listing/open-listings.ts'
import {
  type CompanyRow,
  type HeadRow,
  inBatches,
  type ListingTables,
  type PastCompanyRow,
} from '../listing/tables.ts'
import { type RegistryDatabase, readValue } from '../sql/database.ts'
import type { Report } from './verify.ts'
import type { NameCheck } from './verify-names.ts'
import type { IdCheck } from './verify-ids.ts'
import type { CheckedKind, CompanyHeads, ListingChecks } from './verify-listings.ts'
import { createSegmentCheck, type NumberSet, type SegmentSummary } from './verify-segments.ts'

/** What the checks of heads and segments share. */
export interface HeadChecks extends Pick<ListingChecks, 'checks' | 'report'> {
  readonly known: Known
  /** Receives the numbers of segments and nodes that are there. */
  readonly named: NumberSet
  readonly ids: IdCheck
  readonly names: NameCheck
}

/** How many segments are read at once. */
const segmentsAtOnce = 200

export function createHeadCheck(tables: ListingTables, checks: HeadChecks) {
  const { report, known, names } = checks
  const segments = createSegmentCheck(tables, checks)
  const readLeaves = createLeafReader(tables, checks)

  return {
    /** Reads the segments of short listings together, and forgets those that were read before. */
    async readSegments(
      companies: readonly CompanyHeads[],
      kinds: ReadonlyMap<string, CheckedKind>,
    ): Promise<void> {
      segments.forget()
      for (const [listing, kind] of kinds) {
        for (const isPresent of [true, false]) {
          const keys = companies.flatMap(({ companyId, listings }) => {
            const heads = listings.get(listing) ?? []
            const some = isPresent ? heads.slice(-1) : heads.slice(0, -1)
            return keysOf(companyId, some.flatMap(shortDirectory))
          })
          await segments.read(keys, kind, isPresent)
        }
      }
    },
    /** Checks the heads of one listing, given in the order of their versions. */
    async check(
      companyId: number,
      kind: CheckedKind | undefined,
      heads: readonly HeadRow[],
    ): Promise<void> {
      for (const head of heads.toReversed()) {
        const leaves = await readLeaves(head)
        // A listing of a resource that is not declared any more.
        if (kind === undefined) segments.skip(leaves)
        if (kind === undefined || leaves === undefined) continue
        const isPresent = head === heads.at(-1)
        await segments.read(keysOf(companyId, leaves), kind, isPresent)
        const { shape } = kind
        known.checkHead(shape.listing, companyId, head.version)
        const found = leaves.map(({ segment }) => segments.find(segment))
        if (isPresent && kind.resource === undefined) {
          names.note(
            companyId,
            found.flatMap((one) => one?.records ?? []),
          )
        }
        if (found.includes(undefined)) continue
        const whole = found as readonly SegmentSummary[]
        for (const fault of faultsOf(shape, head, leaves, whole)) {
          const { version } = head
          report(
            `${shape.listing} heads`,
            `${shape.listing} of company ${companyId}, version ${version}: ${fault}`,
          )
        }
      }
    },
  }
}

/** The segments of a directory that has no levels, and is not long. */
function shortDirectory({ directory }: HeadRow): readonly DirectoryEntry[] {
  try {
    const { level, entries } = decodeDirectory(directory)
    return level === 0 && entries.length <= segmentsAtOnce ? entries : []
  } catch {
    // It is reported when the head is checked.
    return []
  }
}

function* faultsOf(
  shape: ListingShape,
  head: HeadRow,
  leaves: readonly DirectoryEntry[],
  segments: readonly SegmentSummary[],
): Generator<string> {
  let total = 0
  let largest = 0
  const types = new Map<string, number>()
  for (const [at, segment] of segments.entries()) {
    total += segment.count
    largest = Math.max(largest, segment.largest)
    for (const [type, count] of segment.types) types.set(type, (types.get(type) ?? 0) + count)
    const { segment: number, records, bytes, largest: most } = leaves[at] ?? noEntry
    if (records !== segment.count || bytes !== segment.bytes || most !== segment.largest) {
      yield `its directory has other numbers than segment ${number}`
    }
    const before = segments[at - 1]
    if (before !== undefined && compareOrder(shape, before.last, segment.first) >= 0) {
      yield `the record ${segment.first.id} is out of order`
    }
  }
  if (total !== head.total) {
    yield `the head has a total of ${head.total}, its segments have ${total} records`
  }
  if (largest !== head.largest) {
    yield `the largest record has ${largest} bytes, but the head has ${head.largest}`
  }
  const meta = shape.metaColumn === undefined ? null : metaText(types)
  if (meta !== head.meta) yield 'meta does not match the records'
  if (types.size > metaTypesMax) yield `${types.size} types, more than ${metaTypesMax}`
}

const noEntry = { segment: 0, records: 0, bytes: 0, largest: 0 }

/** Makes what reads the segments of a head, and checks the levels of its directory. */
function createLeafReader(tables: ListingTables, { report, named }: HeadChecks) {
  return async (head: HeadRow): Promise<readonly DirectoryEntry[] | undefined> => {
    const { companyId, version, directory } = head
    const fault = (sentence: string) =>
      report('directories', `a directory of company ${companyId}, version ${version}: ${sentence}`)
    try {
      let { level, entries } = decodeDirectory(directory)
      for (; level > 0; level -= 1) {
        const lower: DirectoryEntry[] = []
        for (const some of inBatches(entries, segmentsAtOnce)) {
          const nodes = await tables.segments(keysOf(companyId, some), 'both')
          for (const [n, node] of nodes.entries()) {
            named.add(node.segment)
            const own = decodeNode(node.entries)
            if (own.level !== level - 1 || node.texts !== null || !isSum(some[n], own.entries)) {
              fault(`its part ${node.segment} does not match`)
            }
            lower.push(...own.entries)
          }
        }
        entries = lower
      }
      return entries
    } catch (error) {
      if (!(error instanceof Error) || 'code' in error) throw error
      fault(error.message)
      return undefined
    }
  }
}

function isSum(entry: DirectoryEntry | undefined, parts: readonly DirectoryEntry[]): boolean {
  let [records, bytes, largest] = [0, 0, 0]
  for (const part of parts) {
    records += part.records
    bytes += part.bytes
    largest = Math.max(largest, part.largest)
  }
  return entry?.records === records && entry.bytes === bytes && entry.largest === largest
}

export type Known = Awaited<ReturnType<typeof readKnown>>

/** Reads versions and sources, and companies as they are needed. */
export async function readKnown(db: RegistryDatabase, report: Report) {
  const numbers = async (sql: string) =>
    new Set((await db.rows(sql)).map((row) => Number(Object.values(row)[0])))
  const versions = await numbers('select version from imports')
  const sources = await numbers('select id from sources')
  const pastFrom = Number(await readValue(db, 'select past_from from store'))
  let companies = new Map<number, CompanyRow>()
  let past = new Map<number, PastCompanyRow[]>()

  /** A listing may have become empty in the version that has forgotten its company. */
  function isKnownAt(companyId: number, version: number): boolean {
    const company = companies.get(companyId)
    const former = past.get(companyId) ?? []
    // What is known of earlier versions was pruned.
    if (version <= pastFrom) return company !== undefined || former.length > 0
    if (company !== undefined && company.version <= version) return true
    return former.some((one) => one.version <= version && version <= one.until)
  }

  return {
    hasSource: (source: number) => sources.has(source),
    hasVersion: (version: number) => versions.has(version),
    /** Reads what is known of companies, instead of those before. */
    async read(ids: readonly number[]): Promise<void> {
      companies = new Map((await db.tables.companiesById(ids)).map((one) => [one.id, one]))
      past = Map.groupBy(await db.tables.pastCompanies(ids), ({ companyId }) => companyId)
    },
    checkHead(listing: string, companyId: number, version: number): void {
      const head = `${listing} of company ${companyId}, version ${version}`
      if (!versions.has(version)) report('head versions', `${head}: there is no such version`)
      else if (!isKnownAt(companyId, version)) {
        report('head companies', `${head}: the company is not known then`)
      }
    },
  }
}
