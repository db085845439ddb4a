// Takes versions back: a new version for each source and target, whose state is the one before.
//
// All are made in one transaction. What the reverted versions added goes to the past; what they
// replaced or removed comes back from there. So a revert can be reverted.

import { filterColumns } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import { recordingSource } from '../importing.ts'
import type { LoadTarget } from '../load-target.ts'
import { OperatorError } from '../../operator-error.ts'
import type { Reverted, RevertPlan, RevertReport } from '../reverting.ts'
import { readValue, type Values } from './database.ts'
import type { Dialect } from './dialect.ts'
import { countChanges, type ImportConnection, runSteps } from './import.ts'
import { logVersion, readVersions } from './import-log.ts'
import { keepNames } from './keep-names.ts'
import { companiesTarget } from './merge-companies.ts'
import { dropTemporary } from './merge.ts'
import type { OnShare } from './merge-progress.ts'
import { recordsTarget } from './merge-records.ts'
import { keepHeads } from './past-heads.ts'
import { changedReverts, chooseVersions, type RevertGroup } from './reverted-versions.ts'

/** The number of filter values that the connection's stage needs. */
export function filtersToRevert(resources: readonly Resource[]): number {
  return Math.max(...resources.map((resource) => filterColumns(resource).length))
}

/**
 * Takes versions back, or finds out in a dry run what that would change.
 *
 * @param db a connection that is used for nothing else, and is closed afterwards.
 * @throws OperatorError that says what to do, if they cannot be taken back; nothing is changed.
 */
export async function revert(
  db: ImportConnection,
  resources: readonly Resource[],
  plan: RevertPlan,
): Promise<RevertReport> {
  try {
    await db.stage.end()
    await db.begin(plan)
    const versions = await readVersions(db)
    const pastFrom = Number(await readValue(db, 'select past_from from store'))
    const groups = chooseVersions(versions, plan.range, pastFrom)
    if (groups.length === 0) {
      await db.discard()
      return { reverted: [], companiesForgotten: 0, companiesRevived: 0 }
    }
    const report = await revertGroups(db, resources, groups, plan)
    if (plan.isDryRun) {
      await db.discard()
      const reverted = report.reverted.map((one) => ({ ...one, version: undefined }))
      return { ...report, reverted }
    }
    plan.signal?.throwIfAborted()
    plan.onStep?.('committing', committingFrom)
    await db.commit()
    const changed = report.reverted.map(({ restored, updated, removed }) =>
      Math.max(restored, updated, removed),
    )
    const touched = groups.flatMap((group) => targetsOfGroup(targetsOf(resources), group))
    await db.settle({
      tables: [...new Set(touched.flatMap(({ tables }) => tables))],
      rows: Math.max(...changed),
    })
    return report
  } catch (error) {
    await db.discard()
    throw error
  }
}

function targetsOf(resources: readonly Resource[]): readonly LoadTarget[] {
  return [companiesTarget, ...resources.map(recordsTarget)]
}

/** The group's target, then the resources in which its changes were recorded. */
function targetsOfGroup(targets: readonly LoadTarget[], group: RevertGroup): readonly LoadTarget[] {
  const names = [group.target, ...group.versions.flatMap(({ recordedIn }) => recordedIn)]
  return [...new Set(names)].map((name) => {
    const found = targets.find((target) => target.name === name)
    if (found === undefined) throw new OperatorError(`this Dossier has no ${name} to revert`)
    return found
  })
}

async function revertGroups(
  db: ImportConnection,
  resources: readonly Resource[],
  groups: readonly RevertGroup[],
  plan: RevertPlan,
): Promise<RevertReport> {
  const targets = targetsOf(resources)
  const reverted: Reverted[] = []
  let companiesRevived = 0
  for (const [n, group] of groups.entries()) {
    plan.signal?.throwIfAborted()
    const version = Number(await readValue(db, 'select max(version) + 1 from imports'))
    const values = valuesOf(group, version)
    await runSteps(db, [...dropTemporary(db.dialect, 'reverted'), findReverted], values)
    const changes = new Map<string, Changes>()
    const touched = targetsOfGroup(targets, group)
    companiesRevived += await reviveCompanies(db, touched, values)
    for (const [m, target] of touched.entries()) {
      const onShare = (share: number) => {
        const done = (n + (m + share) / touched.length) / groups.length
        plan.onStep?.(`reverting ${target.name}`, done * committingFrom)
      }
      changes.set(target.name, await revertTarget(db, target, { group, values, onShare }))
    }
    const done = describe(group, version, changes)
    await note(db, done, values, plan)
    reverted.push(done)
  }
  const companiesForgotten = await forgetCompanies(db, resources, {
    version: reverted.at(-1)?.version ?? null,
  })
  return { reverted, companiesForgotten, companiesRevived }
}

function valuesOf({ target, sourceId, versions }: RevertGroup, version: number): Values {
  return { version, target, source: sourceId, first: versions[0]?.version ?? null }
}

const findReverted = `
  create temp table reverted as
    select version from imports
    where version >= $first and resource = $target and source_id = $source`

interface Changes {
  readonly restored: number
  readonly updated: number
  readonly removed: number
}

/** The share of the time that a revert takes before its commit. */
const committingFrom = 0.9

interface TargetRevert {
  readonly group: RevertGroup
  readonly values: Values
  readonly onShare: OnShare
}

/** Records that describe changes have a source of their own; it is found among them. */
async function revertTarget(
  db: ImportConnection,
  target: LoadTarget,
  { group, values, onShare }: TargetRevert,
): Promise<Changes> {
  const after = Number(await readValue(db, 'select coalesce(max(seq), 0) from stage'))
  const { find, apply, spoken } = target.revert(db.dialect)
  const source =
    target.name === group.target
      ? group.sourceId
      : await readValue(db, 'select id from sources where name = $name', {
          name: recordingSource(group.source, group.target),
        })
  const own = { ...values, source: source ?? null, after }
  await runSteps(db, find, own, (share) => onShare(share / 2))
  const { inserted: restored, updated, removed } = await countChanges(db)
  await runSteps(db, spoken ?? [], own)
  await runSteps(db, apply, own, (share) => onShare((1 + share) / 2))
  if (spoken !== undefined) await keepNames(db)
  return { restored, updated, removed }
}

function describe(
  { target, source, versions }: RevertGroup,
  version: number,
  changes: ReadonlyMap<string, Changes>,
): Reverted {
  const own = changes.get(target) ?? { restored: 0, updated: 0, removed: 0 }
  const recorded = [...changes].filter(([name]) => name !== target)
  return {
    version,
    target,
    source,
    reverts: versions.map((one) => one.version),
    ...own,
    recorded: Object.fromEntries(
      recorded.map(([name, { restored, removed }]) => [name, { restored, removed }]),
    ),
  }
}

/** Adds the version to the log, and notes there which versions are in force. */
async function note(
  db: ImportConnection,
  { target, reverts, restored, updated, removed, recorded }: Reverted,
  values: Values,
  { startedAt }: RevertPlan,
): Promise<void> {
  const back = Object.entries(recorded).map(([name, one]) => [name, one.restored] as const)
  await logVersion(
    db,
    { ...values, asOf: null },
    {
      target,
      isSnapshot: false,
      startedAt,
      counts: {
        ...{ read: restored + updated, inserted: restored, updated, unchanged: 0 },
        ...{ refused: 0, removed, companiesCreated: 0 },
      },
      files: [],
      recorded: Object.fromEntries(back),
      reverts,
    },
  )
  const log = await readVersions(db)
  const own = log.filter((one) => one.target === target && one.sourceId === values['source'])
  const changed = Object.fromEntries(changedReverts(own).map(([one, by]) => [one, by ?? null]))
  await runSteps(db, [noteReverted(db.dialect)], { changed: JSON.stringify(changed) })
}

const noteReverted = (d: Dialect) => `
  update imports set reverted_by = (
    select cast(e.value as integer) from ${d.jsonMembers('$changed', 'e')}
    where cast(e.key as integer) = imports.version
  )
  where version in (select cast(e.key as integer) from ${d.jsonMembers('$changed', 'e')})`

/**
 * Makes those companies known again that were known before the reverted versions, and that these
 * have forgotten, or of which something comes back: a version of another source may have forgotten
 * them when nothing of this one was left.
 */
async function reviveCompanies(
  db: ImportConnection,
  touched: readonly LoadTarget[],
  values: Values,
): Promise<number> {
  const byReverted = 'in (select version from reverted)'
  const comesBack = touched.map(
    ({ tables: [table] }) => `exists (
      select 1 from ${table}_past r
      where r.company_id = p.company_id and r.version < $first and r.until ${byReverted}
    )`,
  )
  const find = `
    create temp table revived as
      select p.company_id as id, p.jurisdiction, p.identifier
      from companies_past p
      where p.version < $first and p.until >= $first
        and not exists (select 1 from companies c where c.id = p.company_id)
        and (p.until ${byReverted} or ${comesBack.join(' or ')})`
  await runSteps(db, [...dropTemporary(db.dialect, 'revived'), find], values)
  await runSteps(db, db.dialect.companies.revive, values)
  return Number(await readValue(db, 'select count(*) from revived'))
}

/** Forgets the companies that no version in force mentions; their ids stay theirs. */
async function forgetCompanies(
  db: ImportConnection,
  resources: readonly Resource[],
  values: Values,
): Promise<number> {
  const inForce = 'in (select version from imports where reverted_by is null)'
  const mentions = targetsOf(resources)
    .map(({ tables: [table] }) => table)
    .flatMap((table) => [
      `select 1 from ${table} r where r.company_id = c.id`,
      `select 1 from ${table}_past r where r.company_id = c.id and r.version ${inForce}`,
    ])
  const find = `
    create temp table forgotten as
      select c.id from companies c
      where c.version not ${inForce}
        ${mentions.map((query) => `and not exists (${query})`).join(' ')}`
  const keep = `
    insert into companies_past (company_id, until, version, jurisdiction, identifier)
      select c.id, $version, c.version, c.jurisdiction, c.identifier
      from forgotten f join companies c on c.id = f.id`
  const listings = '(select id as company_id from forgotten)'
  const keepOld = resources.map(({ name }) => keepHeads(name, listings))
  const forgetHeads = 'delete from heads where company_id in (select id from forgotten)'
  const { forget } = db.dialect.companies
  await runSteps(db, [find, keep, ...keepOld, forgetHeads, ...forget], values)
  return Number(await readValue(db, 'select count(*) from forgotten'))
}
