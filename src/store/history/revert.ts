// Takes versions back: makes a new version for each source and target, with the state before them.
//
// All are made in one transaction. What the reverted versions replaced or removed is restored from
// the heads before them. These are kept, as are those of the reverted versions: so a revert can be
// reverted.

import type { Resource } from '../../resources/resource.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { renameAll } from '../companies/keep-names.ts'
import { noteNameAttribute } from '../companies/name-attribute.ts'
import { recordingSource } from '../importing.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { numberSegments, type SegmentNumbers } from '../listing/write-listings.ts'
import { type ImportConnection, numberIn } from '../sql/database.ts'
import type { LoggedImport } from '../inspecting.ts'
import type { Reverted, RevertPlan, RevertReport } from '../writing.ts'
import { knownSourceId, listImports, logVersion, nextVersion, sourceId } from '../sql/import-log.ts'
import type { ComparedStates, SharedIds } from './compare-states.ts'
import { settleCompanies } from './known-companies.ts'
import { refuseShared, revertListings } from './revert-listings.ts'
import { changedReverts, chooseVersions, nameOf, type RevertGroup } from './reverted-versions.ts'

/** The share of the time that a revert takes before its commit. */
const committingFrom = 0.9

/**
 * Takes versions back, or finds out in a dry run what that would change.
 *
 * @param db a connection that is used for nothing else, and is discarded if this throws.
 * @throws OperatorError that says what to do, if they cannot be taken back; nothing is changed.
 */
export async function revert(
  db: ImportConnection,
  resources: readonly Resource[],
  plan: RevertPlan,
): Promise<RevertReport> {
  await db.begin(plan)
  const report = await revertAll(db, resources, plan)
  if (plan.isDryRun || report.reverted.length === 0) {
    await db.discard()
    const reverted = report.reverted.map((one) => ({ ...one, version: undefined }))
    return { ...report, reverted }
  }
  plan.signal?.throwIfAborted()
  plan.onStep?.('committing', committingFrom)
  await db.commit()
  return report
}

type Done = Reverted & { readonly version: number }

async function revertAll(
  db: ImportConnection,
  resources: readonly Resource[],
  plan: RevertPlan,
): Promise<RevertReport> {
  const pastFrom = await numberIn(db, 'select past_from from store')
  const log = (await listImports(db)).reverse()
  const chosen = chooseVersions(log, plan.range, pastFrom)
  const shared: SharedIds | undefined = chosen.length === 1 ? undefined : new Map()
  const groups = chosen.map((group) => ({ ...group, shared }))
  const shapes = [attributesShape, ...resources.map(shapeOf)]
  const numbers = await numberSegments(db.tables)
  const reverted: Done[] = []
  for (const [n, group] of groups.entries()) {
    const onShare = (step: string, share: number) => {
      plan.signal?.throwIfAborted()
      plan.onStep?.(step, ((n + share) / groups.length) * committingFrom)
    }
    const done = await revertGroup(db, numbers, group, shapesOf(shapes, group), onShare)
    await note(db, done, log, plan)
    reverted.push(done)
  }
  if (shared !== undefined && 'to' in plan.range) {
    await refuseShared(db.tables, shared, plan.range.to)
  }
  await numbers.note()
  const [firstNew, lastNew] = [reverted[0]?.version, reverted.at(-1)?.version]
  if (firstNew === undefined || lastNew === undefined) {
    return { reverted, companiesForgotten: 0, companiesRevived: 0 }
  }
  const firstReverted = Math.min(...reverted.flatMap(({ reverts }) => reverts))
  const span = { firstReverted, firstNew, lastNew }
  return { reverted, ...(await settleCompanies(db, span)) }
}

/** The shapes of the group's target, then of the resources in which its changes were recorded. */
function shapesOf(shapes: readonly ListingShape[], group: RevertGroup): readonly ListingShape[] {
  const changed = group.versions.flatMap((one) => [one.target, ...Object.keys(one.recorded)])
  const names = [group.target, ...changed]
  return [...new Set(names)].map((name) => {
    const found = shapes.find(({ listing }) => listing === name)
    if (found === undefined) throw new OperatorError(`this Dossier has no ${name} to revert`)
    return found
  })
}

/** Takes back the versions of a group. */
async function revertGroup(
  db: ImportConnection,
  numbers: SegmentNumbers,
  group: RevertGroup & Pick<ComparedStates, 'shared'>,
  shapes: readonly ListingShape[],
  onShare: (step: string, share: number) => void,
): Promise<Done> {
  const { target, source, versions } = group
  const version = await nextVersion(db)
  const { tables } = db
  const context = { tables, version, numbers }
  const first = versions[0]?.version ?? version
  const isRenaming = await restoreNameAttribute(db, group, { version, before: first })
  const recorded: Record<string, { restored: number; removed: number }> = {}
  let own = { restored: 0, updated: 0, removed: 0 }
  for (const [n, shape] of shapes.entries()) {
    const { listing } = shape
    // Records that describe changes have a source of their own.
    const name = listing === target ? source : recordingSource(source, target)
    const number = (await knownSourceId(db, name)) ?? 0
    const states = { source: number, first, shared: group.shared }
    const done = await revertListings(db, context, shape, states, (share) =>
      onShare(`reverting ${listing}`, (n + share) / shapes.length),
    )
    if (listing === target) own = done
    else recorded[listing] = { restored: done.restored, removed: done.removed }
  }
  if (isRenaming) await renameAll(db, version)
  const reverts = versions.map((one) => one.version)
  return { version, target, source, reverts, ...own, recorded }
}

/** Restores the attribute that had the names of a source's companies before a version. */
async function restoreNameAttribute(
  db: ImportConnection,
  { target, source: name }: RevertGroup,
  { version, before }: { readonly version: number; readonly before: number },
): Promise<boolean> {
  if (target !== attributesShape.listing) return false
  const source = (await knownSourceId(db, name)) ?? 0
  const former = (await db.tables.sources(before - 1)).get(source)
  return noteNameAttribute(db, { source, version }, former?.nameAttribute)
}

/**
 * Adds the version to the log, and updates there which versions are in force.
 *
 * @param log what it had before this revert, whose other versions are of other groups.
 */
async function note(
  db: ImportConnection,
  { version, target, source, reverts, restored, updated, removed, recorded }: Done,
  log: readonly LoggedImport[],
  { startedAt }: RevertPlan,
): Promise<void> {
  const back = Object.entries(recorded).map(([name, one]) => [name, one.restored] as const)
  await logVersion(db, {
    version,
    target,
    source: await sourceId(db, source),
    startedAt,
    reverts,
    recorded: Object.fromEntries(back),
    counts: { read: restored + updated, inserted: restored, updated, removed },
  })
  const own = log.filter((one) => nameOf(one) === nameOf({ target, source }))
  for (const [one, by] of changedReverts([...own, { version, reverts, revertedBy: undefined }])) {
    await db.run('update imports set reverted_by = $2 where version = $1', one, by ?? null)
  }
}
