// Finds the company and the id of each row, and refuses rows that contradict others or the
// registry. A natural key has one id, and an id one content, in all listings of a record.

import { companyColumns, type Resource } from '../../resources/resource.ts'
import {
  assignedIdEnd,
  assignedIdMin,
  lastBeforeAssigned,
  type NeededIds,
} from '../sql/assigned-ids.ts'
import { readValue } from '../sql/database.ts'
import { hasHashedKeys, hashKey, hideKeys, keyOfHash } from '../withholding/hide-keys.ts'
import type { ImportContext } from './context.ts'
import { hideInShared } from './hide-shared.ts'
import { companyIdIn, idIn } from './staging/spool.ts'
import { inBatches } from '../listing/in-batches.ts'

const batchLength = 1_000

/**
 * A row that names its company by id alone has it already. A row whose id and name belong to
 * different companies gets none.
 */
const placeByName = `
  update stage set company_id = c.id from companies c
  where c.jurisdiction = stage.jurisdiction and c.identifier = stage.identifier
    and coalesce(stage.given_company, c.id) = c.id`

const dropUnknown = `
  update stage set company_id = null
  where company_id is not null and company_id not in (select id from companies)`

const placeByKey = `
  update stage set id = i.id from keys i where i.key = stage.key`

/** Places the rows, and refuses those that can be refused without comparing listings. */
export async function placeRows(context: ImportContext): Promise<void> {
  const { staging, plan } = context
  const { resource } = plan.target
  if (staging.facts.hasNames) staging.run(placeByName)
  if (plan.knownCompaniesOnly || resource === undefined) staging.run(dropUnknown)
  if (resource === undefined) placeCompanies(context)
  else await placeRecords(context, resource)
}

function placeCompanies(context: ImportContext): void {
  const { staging, plan, asOf } = context
  staging.run('update stage set id = company_id')
  staging.run(refuseUnplaced, { idColumn: 'id', identifierColumn: 'identifier' })
  if (plan.asOf === undefined && asOf !== null) staging.run(refuseUndatedRows)
  compareRows(context)
  staging.run(keepUnplaced)
}

async function placeRecords(context: ImportContext, resource: Resource): Promise<void> {
  const { staging, sources, gate } = context
  if (staging.facts.hasKeys) {
    await assignIds(context, resource)
    staging.run(placeByKey)
  }
  const [idColumn, , identifierColumn] = companyColumns
  staging.run(refuseUnplaced, { idColumn, identifierColumn })
  if (sources.size > 1) await refuseForeignIds(context)
  if (gate.hidesByCompany) await hideInShared(context)
  compareRows(context)
}

/** Assigns an id to each natural key that is new from this source. */
async function assignIds(context: ImportContext, resource: Resource): Promise<void> {
  const { staging, tables, db, plan, source, gate } = context
  const { name } = resource
  const storedAs = (key: string) => keyOfHash(hashKey(gate.hasher, name, plan.source, key))
  const hasHashes = await hasHashedKeys(db, name, source)
  const keys = staging.iterate('select distinct key from stage where key is not null')
  for (const batch of inBatches(keys, batchLength)) {
    const asked = batch.map(([key]) => key as string)
    const known = await tables.keyIds(name, source, asked)
    for (const [key, id] of known) staging.insert('keys', key, id, 0)
    if (!hasHashes) continue
    const others = asked.filter((key) => !known.has(key))
    const byHash = new Map(others.map((key) => [storedAs(key), key]))
    for (const [hash, id] of await tables.keyIds(name, source, [...byHash.keys()])) {
      staging.insert('keys', byHash.get(hash) ?? hash, id, 0)
    }
  }
  const given = Number(staging.value('select max(id) from stage where id < ?', assignedIdEnd))
  const needed = { most: staging.facts.rows, count: () => Number(staging.value(countNew)) }
  const lastId = await lastAssigned(context, resource, needed, given)
  staging.run(
    `insert into keys
      select s.key, $lastId + row_number() over (order by min(s.seq)), 1 from stage s
      where s.key is not null and s.at is not null
        and not exists (select 1 from keys i where i.key = s.key)
      group by s.key`,
    { lastId },
  )
}

const countNew = `
  select count(distinct key) from stage where at is not null and key not in (select key from keys)`

/**
 * The greatest id that the store may have assigned in a resource: ids are permanent.
 *
 * @param needed how many ids are to be assigned after it, and after one that is `given`.
 */
export async function lastAssigned(
  { tables, db }: ImportContext,
  resource: Resource,
  needed: NeededIds,
  given = 0,
): Promise<number> {
  const last = await lastBeforeAssigned(needed, async (below) =>
    Math.max(given, await tables.lastId(resource.name, below)),
  )
  // A revert may have taken recorded changes out of the listings.
  const recorded = resource.changeFields && (await readValue(db, 'select recorded from store'))
  return Math.max(assignedIdMin - 1, last, Number(recorded ?? 0))
}

const idsOfKeys = 'select k.id from json_each(?) e cross join keys k on k.key = e.value'

/** Writes the ids of new natural keys to the registry, where they are permanent. */
export async function writeKeys(context: ImportContext): Promise<void> {
  const { staging, tables, plan, source, gate } = context
  const keys = staging.iterate('select key, id from keys where is_new order by key')
  for (const batch of inBatches(keys, batchLength)) {
    const rows = batch.map(([key, id]) => ({ key: key as string, id: Number(id) }))
    await tables.putKeys(plan.target.name, source, rows)
  }
  for (const held of inBatches(gate.heldKeys, batchLength)) {
    const ids = staging.rows(idsOfKeys, JSON.stringify(held)).map(([id]) => Number(id))
    await hideKeys({ tables, hasher: gate.hasher }, plan.target.name, ids)
  }
}

/** Refuses rows without a company, with the reason. */
const refuseUnplaced = `
  insert into refused
    select s.seq,
      case when s.identifier is null or s.given_company is not null
        then $idColumn else $identifierColumn end,
      case when s.identifier is null or s.given_company is not null
        then s.given_company else s.identifier end,
      case
        when c.id <> s.given_company then
          s.jurisdiction || ' ' || s.identifier || ' is company ' || c.id
        when o.jurisdiction is not null then
          'is ' || o.jurisdiction || ' ' || o.identifier || ' in the registry; '
          || 'a company keeps its number: correct it, or leave out the id'
        else 'is not in the registry'
      end
    from stage s
    left join companies c on c.jurisdiction = s.jurisdiction and c.identifier = s.identifier
    left join companies o on o.id = s.given_company
    where s.company_id is null and s.digest is not null`

/** A refused row whose company has another id than it gives still names that company. */
const keepUnplaced = `
  update stage set id = coalesce(
    (select c.id from companies c
     where c.jurisdiction = stage.jurisdiction and c.identifier = stage.identifier),
    given_company
  )
  where id is null and seq in (select seq from refused)`

const refuseUndatedRows = `
  insert into refused
    select s.seq, 'as_of', null, 'is missing; other rows have it, and --as-of was not given'
    from stage s
    where s.as_of is null and s.at is not null
    on conflict do nothing`

/** Refuses ids that another source was the first to use. */
async function refuseForeignIds(context: ImportContext): Promise<void> {
  const { staging } = context
  staging.run('create table foreign_ids (id integer primary key on conflict ignore, source text)')
  const ids = staging.iterate(
    'select distinct id from stage where digest is not null and id is not null',
  )
  for (const batch of inBatches(ids, batchLength)) {
    const asked = batch.map(([id]) => Number(id))
    for (const { id, source } of await findForeign(context, asked)) {
      staging.insert('foreign_ids', id, context.sources.get(source)?.name ?? '')
    }
  }
  staging.run(`
    insert into refused
      select s.seq, 'id', s.id, 'belongs to a record of the source ' || f.source
      from stage s join foreign_ids f on f.id = s.id
      where s.digest is not null
      on conflict do nothing`)
}

/** The ids that belong to other sources, and these sources. */
async function findForeign({ tables, plan, source }: ImportContext, ids: readonly number[]) {
  const { name } = plan.target
  const owners = [...(await tables.whereListed(name, ids)), ...(await tables.recordKeys(name, ids))]
  return owners.filter((owner) => owner.source !== source)
}

/** Whether records, each with the company of its row, are in other companies, too. */
async function areShared(
  { tables, plan }: ImportContext,
  companies: ReadonlyMap<number, number>,
): Promise<boolean> {
  const listed = await tables.whereListed(plan.target.name, [...companies.keys()])
  return listed.some(({ id, companyId }) => companies.get(id) !== companyId)
}

/**
 * Whether the rows can be compared with the registry as they were read: they are in the order of
 * the listings, and nothing about them has to be looked up or refused.
 */
export async function areInPlace(context: ImportContext): Promise<boolean> {
  const { staging, plan, sources, isFirst, gate } = context
  const isKnown = plan.target.resource !== undefined && !plan.knownCompaniesOnly
  if (!isKnown || !staging.facts.isSorted || gate.droppedFrom.size > 0) return false
  if (isFirst || (sources.size === 1 && !gate.hidesByCompany)) return true
  const placed = staging.spooled().map(({ bytes }) => [idIn(bytes), companyIdIn(bytes)] as const)
  for (const rows of inBatches(placed, batchLength)) {
    const companies = new Map(rows)
    if ((await findForeign(context, [...companies.keys()])).length > 0) return false
    if (gate.hidesByCompany && (await areShared(context, companies))) return false
  }
  return true
}

/** An id must have one content: the first row with an id is kept. */
const refuseContradictions = [
  // The ids that occur more than once. They are few, so contradictions and repetitions are searched
  // for among these only.
  `create table repeated as
    select id, min(seq) as first from stage
    where digest is not null group by id having count(*) > 1`,
  `insert into refused
    select p.seq,
      case when $isOfCompanies then 'identifier' when p.key is null then 'id' else 'key' end,
      coalesce(
        substr(p.key, 2), case when $isOfCompanies then p.identifier end, p.id
      ),
      'was given before with other content, in ' || $unit || ' ' || kept.number ||
        case when kept.file = p.file then ''
          else ' of ' || ($fileNames ->> kept.file) end
    from repeated r
    join stage kept on kept.seq = r.first
    join stage p on p.id = r.id and p.digest <> kept.digest
    on conflict do nothing`,
]

/** Drops rows that repeat another row of the same listing. */
const dropRepetitions = `
  update stage set company_id = null, id = null, digest = null
  where seq in (
    select seq from (
      select p.seq, row_number() over (partition by p.id, p.company_id order by p.seq) as place
      from repeated r join stage p on p.id = r.id where p.digest is not null
    ) where place > 1
  )`

export const dropRefused = 'update stage set digest = null where seq in (select seq from refused)'

/** Refuses what contradicts an earlier row with its id, and drops repetitions. */
function compareRows({ staging, plan }: ImportContext): void {
  if (staging.facts.isAscending) {
    // No id occurs twice.
    staging.run(dropRefused)
  } else {
    staging.run('create index stage_by_id on stage (id)')
    staging.run(refuseContradictions, {
      isOfCompanies: Number(plan.target.resource === undefined),
      unit: plan.unit,
      fileNames: JSON.stringify(plan.fileNames ?? []),
    })
    staging.run(dropRefused)
    staging.run(dropRepetitions)
  }
}
