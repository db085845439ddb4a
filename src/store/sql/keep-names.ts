// Keeps the names of companies, and with them the index of their words, within the transaction that
// changes what sources say. Uses two temporary tables:
//
// spoken     the companies of which a source now says something else
// renamed    those of them whose name changes: the former one and the new one

import type { LockWait } from '../lock-wait.ts'
import type { OnStep } from '../work-watch.ts'
import { wordRules } from '../name-words.ts'
import { type Database, type Queries, readValue } from './database.ts'
import type { Dialect } from './dialect.ts'
import { indexNames } from './index-words.ts'
import { dropTemporary } from './merge.ts'
import type { OnShare } from './merge-progress.ts'

/** The attribute with a company's name, unless its source has another one. */
export const usualNameAttribute = 'name'

/**
 * The name of a company `t.company_id`: of the sources that have it in their last snapshot, or else
 * of those that had it, the one that said it last (contract 8.3).
 */
export const nameOf = (d: Dialect) => `
  cast((
    ${d.firstOf('said.name', said(d), 'said.is_present desc, said.version desc, said.source')}
  ) as text)`

const said = (d: Dialect) => `(
      select a.is_present, a.version, s.name as source,
        ${d.jsonText('a.attributes', `coalesce(s.name_attribute, '${usualNameAttribute}')`)} as name
      from company_attributes a join sources s on s.id = a.source_id
      where a.company_id = t.company_id
    ) said where said.name is not null`

/** The same where only one source has ever said anything, which takes a third of the time. */
const onlyNames = (d: Dialect) => `
  insert into names (company_id, name)
    select company_id, name from (
      select a.company_id,
        ${d.jsonText('a.attributes', `coalesce(s.name_attribute, '${usualNameAttribute}')`)} as name
      from company_attributes a ${d.orderedJoin} sources s on s.id = a.source_id
    ) said where name is not null
    order by company_id`

/** The statements that find, in `renamed`, whose names change of the companies in `spoken`. */
const findRenamed = (d: Dialect) => [
  ...dropTemporary(d, 'renamed'),
  `create temp table renamed as
    select t.company_id, n.name as former, ${nameOf(d)} as name
    from spoken t left join names n on n.company_id = t.company_id
    order by t.company_id`,
  'delete from renamed where name is not distinct from former',
  ...d.filled('renamed', 'company_id'),
]

const writeNames = [
  `delete from names where company_id in (
    select company_id from renamed where former is not null
  )`,
  `insert into names (company_id, name)
    select company_id, name from renamed where name is not null order by company_id`,
]

/**
 * Brings the names of the companies in `spoken` up to date, and the index of words.
 *
 * @param onShare receives the share of the names that are done.
 * @returns the number of companies whose names have changed.
 */
export async function keepNames(db: Database, onShare?: OnShare): Promise<number> {
  if (await isFirstSource(db)) {
    const total = await db.run(onlyNames(db.dialect))
    const names = 'select company_id, null as former, name from names'
    return indexNames(db, { names, total }, onShare)
  }
  for (const step of findRenamed(db.dialect)) await db.run(step)
  const renamed = 'select company_id, former, name from renamed'
  const total = Number(await readValue(db, 'select count(*) from renamed'))
  await indexNames(db, { names: renamed, total }, onShare)
  for (const step of writeNames) await db.run(step)
  return total
}

/** Whether no company has a name yet, and one source has said all there is. */
async function isFirstSource(db: Database): Promise<boolean> {
  const [found] = await db.rows(
    `select (select count(*) from (select 1 from names limit 1) n) as names,
      (select count(*) from (select 1 from words limit 1) w) as words,
      (select count(distinct source_id) from imports where resource = 'companies') as sources`,
  )
  // The import that asks is not in the log yet.
  return Number(found?.['names']) + Number(found?.['words']) + Number(found?.['sources']) === 0
}

/**
 * Keeps the attribute with the names of a source's companies.
 *
 * @returns whether it differs from the former one, so that its companies get other names.
 */
export async function noteNameAttribute(
  db: Database,
  source: number,
  attribute: string | undefined,
): Promise<boolean> {
  if (attribute === undefined) return false
  const values = { source, attribute, usual: usualNameAttribute }
  const set = `
    update sources set name_attribute = $attribute
    where id = $source and coalesce(name_attribute, $usual) <> $attribute`
  return (await db.run(set, values)) > 0
}

/**
 * Fills the index of names of a store of an earlier format, or one that was made by other rules, in
 * one transaction.
 *
 * @returns the number of names; undefined if there was nothing to do.
 */
export async function fillNames(
  db: Database,
  wait: LockWait,
  onStep?: OnStep,
): Promise<number | undefined> {
  if (await isFilled(db)) return undefined
  return db.inTransaction('registry', wait, async () => {
    // Another process may have filled it while this one waited.
    if (await isFilled(db)) return undefined
    const steps = [
      'delete from words',
      'delete from names',
      ...dropTemporary(db.dialect, 'spoken'),
      'create temp table spoken as select distinct company_id from company_attributes',
      ...db.dialect.filled('spoken'),
    ]
    for (const step of steps) await db.run(step)
    const names = await keepNames(db, (share) => onStep?.('indexing names', share))
    for (const step of dropTemporary(db.dialect, 'spoken', 'renamed')) await db.run(step)
    await db.run('update store set words = $rules', { rules: wordRules })
    return names
  })
}

/** Why a store of an earlier format cannot be read yet. */
export const namesMissing = 'has no index of names yet; complete its upgrade with: dossier migrate'

/** What `fillNames` has done, for messages. */
export const describeFilled = (names: number) => `indexed the names of ${names} companies`

/** Whether the index of names was made, by the rules of this version. */
export async function isFilled(db: Queries): Promise<boolean> {
  return (await readValue(db, 'select words from store')) === wordRules
}
