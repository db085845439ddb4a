// Reads a company as a whole, as it is or as it was at a version: who it is, what its sources say,
// and its listings without their records. The same statements read the present and the past: what
// an import replaced is beside it, with the versions in which it was current.

import type { Resource } from '../../resources/resource.ts'
import type { CompanyRequest, CompanyState, ListingSummary } from '../company-state.ts'
import { pageBytesMax } from '../page-size.ts'
import type { OutsideHistory } from '../reading.ts'
import type { ListingCounts } from '../value-counts.ts'
import { type Change, type CountedHead, type Counting, countListings } from './count-listings.ts'
import type { Dialect } from './dialect.ts'
import { readRegistry } from './find-companies.ts'
import { usualNameAttribute } from './keep-names.ts'
import { findOutside, versionToRead } from './outside-history.ts'
import { pastHeadsOf } from './past-heads.ts'
import type { InSnapshot, Snapshot } from './snapshot.ts'

/** What a store contributes. */
export interface CompanyFrom extends Omit<Counting, 'counted'> {
  readonly resources: readonly Resource[]
  readonly inSnapshot: InSnapshot
}

/** Reads a company; undefined if it was not in the registry. */
export async function readCompany(
  from: CompanyFrom,
  asked: CompanyRequest,
): Promise<CompanyState | OutsideHistory | undefined> {
  const { state, counted } = await from.inSnapshot(async (snapshot) => {
    const counted = new Map<string, ListingCounts>()
    return { state: await readState(snapshot, asked, { ...from, counted }), counted }
  })
  // Not before: if another process has committed meanwhile, everything was read again.
  for (const [key, counts] of counted) from.kept.set(key, counts)
  return state
}

async function readState(
  snapshot: Snapshot,
  asked: CompanyRequest,
  from: CompanyFrom & Counting,
): Promise<CompanyState | OutsideHistory | undefined> {
  const { companyId: id, version } = asked
  const registry = await readRegistry(snapshot, id)
  const { version: latest, earliestVersion: pastFrom } = registry
  const outside = findOutside(version, { latest, pastFrom })
  if (outside !== undefined) return outside
  const at = [id, versionToRead(version)] as const
  const [identity] = await snapshot.rows<IdentityRow>(identitySql(snapshot.dialect), ...at)
  if (identity === undefined) return undefined
  const [jurisdiction, identifier, since, name, ...identified] = identity
  const said = await snapshot.rows<SourceRow>(sourcesSql, ...at)
  const heads = await readHeads(snapshot, asked, from.resources, at)
  const counts = await countListings(snapshot, asked, heads, from)
  const listings = asked.resources.map((resource): ListingSummary => {
    const { total, version } = heads.get(resource.name) ?? { total: 0, version: since }
    return { resource, total, version, counts: counts.get(resource.name) ?? {} }
  })
  const changes: readonly Change[] = [
    identified,
    ...said.map(([, , , , , , ...change]): Change => change),
    ...asked.resources.map((one) => heads.get(one.name)?.change ?? identified),
  ]
  const company = {
    id,
    jurisdiction,
    identifier,
    name: version === undefined ? name : nameIn(said),
  }
  return {
    company,
    sources: said.some(([, , , , attributes]) => attributes === null)
      ? undefined
      : said.map(sourceState),
    listings,
    lineage: changes.map(([lineage]) => lineage).join(''),
    changedAt: Math.max(...changes.map(([, committedAt]) => committedAt)),
    registry,
  }
}

type IdentityRow = readonly [
  jurisdiction: string | null,
  identifier: string | null,
  since: number,
  name: string | null,
  ...Change,
]

/** A company's register, which it may have been told only later, and its name as it is now. */
const identitySql = ({ greatest }: Dialect) => `
  select k.jurisdiction, k.identifier, k.since, n.name, i.lineage, i.committed_at
  from (
    select
      case when p.until is null then c.jurisdiction else p.jurisdiction end as jurisdiction,
      case when p.until is null then c.identifier else p.identifier end as identifier,
      case when p.until is null then c.version else p.version end as since
    from (select 1 as one) o
    left join companies c on c.id = $1 and c.version <= $2
    left join companies_past p on p.company_id = $1 and p.version <= $2 and p.until > $2
    order by p.until limit 1
  ) k
  left join names n on n.company_id = $1
  join imports i on i.version = ${greatest}(k.since, coalesce((
    select max(p.until) from companies_past p where p.company_id = $1 and p.until <= $2
  ), 0))
  where k.since is not null`

type SourceRow = readonly [
  source: string,
  isPresent: boolean | number,
  asOf: string | null,
  version: number,
  attributes: string | null,
  nameAttribute: string | null,
  ...Change,
]

/** Attributes are null if all of them are larger than an answer may be. */
const sourcesSql = `
  with said as not materialized (
    select source_id, is_present, as_of, version, attributes
    from company_attributes where company_id = $1 and version <= $2
    union all
    select source_id, is_present, as_of, version, attributes
    from company_attributes_past where company_id = $1 and version <= $2 and until > $2
  )
  select s.name, a.is_present, a.as_of, a.version,
    case when (select sum(octet_length(attributes)) from said) <= ${pageBytesMax}
      then a.attributes end,
    s.name_attribute, i.lineage, i.committed_at
  from said a
  join sources s on s.id = a.source_id
  join imports i on i.version = a.version
  order by s.name`

function sourceState([source, isPresent, asOf, version, attributes]: SourceRow) {
  return { source, isPresent: Boolean(isPresent), asOf, version, attributes: attributes ?? '' }
}

/** The name of a company by what its sources say, as `nameOf` in keep-names.ts finds it. */
function nameIn(said: readonly SourceRow[]): string | null {
  const named = said.flatMap(([source, isPresent, , version, attributes, nameAttribute]) => {
    const known = JSON.parse(attributes ?? '{}') as Readonly<Record<string, unknown>>
    const name = new Map(Object.entries(known)).get(nameAttribute ?? usualNameAttribute)
    return typeof name === 'string' ? [{ source, isPresent: Number(isPresent), version, name }] : []
  })
  const [last] = named.sort((a, b) => b.isPresent - a.isPresent || b.version - a.version)
  return last?.name ?? null
}

/** A listing as it is or was. */
interface SummaryHead extends CountedHead {
  readonly version: number
}

type HeadRow = readonly [
  resource: string,
  isFormer: number,
  total: number,
  version: number,
  ...Change,
]

const presentHeads = `
  select h.resource, 0 as is_former, h.total, h.version, i.lineage, i.committed_at
  from heads h join imports i on i.version = h.version
  where h.company_id = $1`

const formerHeads = ({ name }: Resource) => `
  select '${name}', 1, h.total, h.version, i.lineage, i.committed_at
  from ${pastHeadsOf(name)} h join imports i on i.version = h.version
  where h.company_id = $1 and h.until > $2 and h.version <= $2`

/** The heads of a company's listings by resource; a listing without records may have none. */
async function readHeads(
  snapshot: Snapshot,
  { version: asked }: CompanyRequest,
  resources: readonly Resource[],
  [company, version]: readonly [number, number],
): Promise<ReadonlyMap<string, SummaryHead>> {
  const rows = await (asked === undefined
    ? snapshot.rows<HeadRow>(presentHeads, company)
    : snapshot.rows<HeadRow>(
        [presentHeads, ...resources.map(formerHeads)].join(' union all '),
        ...([company, version] as const),
      ))
  const totals = new Map<string, number>()
  for (const [resource, isFormer, total] of rows) if (isFormer === 0) totals.set(resource, total)
  const heads = new Map<string, SummaryHead>()
  for (const [resource, isFormer, total, changedIn, ...change] of rows) {
    if (changedIn > version) continue
    const presentTotal = totals.get(resource) ?? 0
    heads.set(resource, {
      total,
      version: changedIn,
      change,
      presentTotal,
      isPresent: isFormer === 0,
    })
  }
  return heads
}
