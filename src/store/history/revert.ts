// Takes versions back: a new version for each source and target, whose state is the one before.
//
// All are made in one transaction. What the reverted versions replaced or removed comes back from
// the heads before them, which stay, as those of the reverted versions do: so a revert can be
// reverted.

import type { Resource } from '../../resources/resource.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { recordingSource } from '../importing.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import {
  type MergeContext,
  numberSegments,
  type SegmentNumbers,
} from '../listing/write-listings.ts'
import { type ImportConnection, readValue } from '../sql/database.ts'
import type { Reverted, RevertPlan, RevertReport } from '../writing.ts'
import { knownSourceId, logVersion, readVersions } from '../sql/import-log.ts'
import { forgetCompanies, reviveCompanies, reviveForgotten } from './known-companies.ts'
import { revertAttributes } from './revert-attributes.ts'
import { type Changes, revertRecords, type TakenBack } from './revert-records.ts'
import { changedReverts, chooseVersions, type RevertGroup } from './reverted-versions.ts'

/** The share of the time that a revert takes before its commit. */
const committingFrom = 0.9

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
    await db.settle()
    return report
  } catch (error) {
    await db.discard()
    throw error
  }
}

async function revertGroups(
  db: ImportConnection,
  resources: readonly Resource[],
  groups: readonly RevertGroup[],
  plan: RevertPlan,
): Promise<RevertReport> {
  const shapes = [attributesShape, ...resources.map(shapeOf)]
  const numbers = await numberSegments(db.tables)
  const reverted: Reverted[] = []
  let companiesRevived = 0
  for (const [n, group] of groups.entries()) {
    const done = await revertGroup(db, numbers, {
      ...{ group, plan, shapes: shapesOf(shapes, group) },
      onShare: (step, share) => plan.onStep?.(step, ((n + share) / groups.length) * committingFrom),
    })
    companiesRevived += done.companiesRevived
    reverted.push(done.reverted)
  }
  const companiesForgotten = await forgetCompanies(db, Number(reverted.at(-1)?.version))
  await numbers.note()
  return { reverted, companiesForgotten, companiesRevived }
}

/** Those of the group's target, then of the resources in which its changes were recorded. */
function shapesOf(shapes: readonly ListingShape[], group: RevertGroup): readonly ListingShape[] {
  const names = [group.target, ...group.versions.flatMap(({ recordedIn }) => recordedIn)]
  return [...new Set(names)].map((name) => {
    const found = shapes.find(({ listing }) => listing === name)
    if (found === undefined) throw new OperatorError(`this Dossier has no ${name} to revert`)
    return found
  })
}

/** The revert of one source and target. */
interface GroupRevert {
  readonly group: RevertGroup
  readonly plan: RevertPlan
  readonly shapes: readonly ListingShape[]
  readonly onShare: (step: string, share: number) => void
}

async function revertGroup(
  db: ImportConnection,
  numbers: SegmentNumbers,
  { group, plan, shapes, onShare }: GroupRevert,
): Promise<{ readonly reverted: Reverted; readonly companiesRevived: number }> {
  const { tables } = db
  const version = Number(await readValue(db, 'select max(version) + 1 from imports'))
  const first = group.versions[0]?.version ?? version
  const revival = { version, first }
  let companiesRevived = await reviveForgotten(db, group, revival)
  const changes = new Map<string, Changes>()
  for (const [m, shape] of shapes.entries()) {
    const done = await revertTarget(db, { tables, version, numbers }, shape, {
      source: await sourceIn(db, shape, group),
      first,
      onRestored: async (companies) => {
        companiesRevived += await reviveCompanies(tables, companies, revival)
      },
      onShare: (share) => {
        plan.signal?.throwIfAborted()
        onShare(`reverting ${shape.listing}`, (m + share) / shapes.length)
      },
    })
    changes.set(shape.listing, done)
  }
  const reverted = describe(group, version, changes)
  await note(db, reverted, group.sourceId, plan)
  return { reverted, companiesRevived }
}

function revertTarget(
  db: ImportConnection,
  context: MergeContext,
  shape: ListingShape,
  taken: TakenBack,
): Promise<Changes> {
  return shape === attributesShape
    ? revertAttributes(db, context, taken)
    : revertRecords(db, context, shape, taken)
}

/** Records that describe changes have a source of their own; it is found among them. */
async function sourceIn(
  db: ImportConnection,
  { listing }: ListingShape,
  { target, source, sourceId }: RevertGroup,
): Promise<number> {
  if (listing === target) return sourceId
  return (await knownSourceId(db, recordingSource(source, target))) ?? 0
}

function describe(
  { target, source, versions }: RevertGroup,
  version: number,
  changes: ReadonlyMap<string, Changes>,
): Reverted & { readonly version: number } {
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
  { version, target, reverts, restored, updated, removed, recorded }: Reverted,
  source: number,
  { startedAt }: RevertPlan,
): Promise<void> {
  const back = Object.entries(recorded).map(([name, one]) => [name, one.restored] as const)
  await logVersion(
    db,
    { version: version ?? null, source, asOf: null },
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
  const own = log.filter((one) => one.target === target && one.sourceId === source)
  for (const [one, by] of changedReverts(own)) {
    const set = 'update imports set reverted_by = $by where version = $one'
    await db.run(set, { one, by: by ?? null })
  }
}
