// The course of an import in a store: rows are staged in temporary files, then compared with the
// registry and merged into it in one transaction.

import {
  type ImportOutcome,
  type ImportPlan,
  isRecordingSource,
  type Merged,
  type Place,
  type RefusedRow,
  type StagedProblem,
  type StagedRow,
} from '../importing.ts'
import { type ImportConnection, numberIn } from '../sql/database.ts'
import { likelySourceId, logVersion } from '../sql/import-log.ts'
import { applyCompanies } from './apply-companies.ts'
import { applyFirst, applyRecords } from './apply-records.ts'
import {
  countCreated,
  givenCompanies,
  makeById,
  makeCompanies,
  writeCompanies,
} from './make-companies.ts'
import { findChanges } from './compare.ts'
import { createContext, type ImportContext } from './context.ts'
import { countChanges, countHeld, countNamed } from './counts.ts'
import { areInPlace, lastAssigned, placeRows, writeKeys } from './place-rows.ts'
import { findDifference } from './difference.ts'
import { openRecording, type OpenRecording, stageDifferences } from './record-differences.ts'
import type { Gate } from '../withholding/gate.ts'
import type { FindingImport } from '../withholding/finds.ts'
import { countBySource } from './like-sources.ts'
import { createListingCutter } from './staging/cut-listings.ts'
import { placeIn, stagedRowIn } from './staging/spool.ts'
import { openStaging, type Staging } from './staging/staging.ts'

export type ImportSession = Awaited<ReturnType<typeof beginImport>>

/**
 * Begins an import on a connection that is used for nothing else until it ends: `stage` any number
 * of times, `prepare`, then `commit` or `discard`. Readers see nothing of it before `commit` has
 * finished.
 *
 * @param gate holds back what is withheld.
 * @param commitWithFinds commits an import that has found more of what is withheld, and returns the
 *   number of the entry that tells so in the list, if there is one.
 */
export async function beginImport(
  db: ImportConnection,
  plan: ImportPlan,
  gate: Gate,
  commitWithFinds: (db: ImportConnection, found: FindingImport) => Promise<number | undefined>,
) {
  const staging = openStaging(await createCutter(db, plan))
  let context: ImportContext | undefined
  return {
    stage(place: Place, given: StagedRow): void {
      const row = gate.pass(given)
      if (row !== undefined) staging.stage(place, row)
    },
    /** Stages the identity of a refused row: a snapshot must not remove its record. */
    stageRefused: (place: Place, row: RefusedRow) => staging.stageRefused(place, row),
    /** Waits for the write lock, merges the staged rows, and reports those that are refused. */
    async prepare(onProblem: (problem: StagedProblem) => void): Promise<Merged> {
      await db.begin(plan)
      await gate.checkState(db)
      context = await createContext(db, plan, staging, gate)
      return mergeStaged(context, onProblem)
    },
    /**
     * Commits the import as the registry's next version; returns that, and the entry of the list of
     * what is withheld that tells what the import has found of it.
     */
    async commit(outcome: ImportOutcome) {
      if (context === undefined) throw new Error('an import has to be prepared first')
      context.parts('committing')(0)
      await logImport(context, await gate.passLogged(db, outcome))
      const { version } = context
      const finds = gate.finds()
      let listEntry: number | undefined
      if (finds.size === 0) await db.commit()
      else listEntry = await commitWithFinds(db, { plan, source: context.source, version, finds })
      staging.close()
      return { version, listEntry }
    },
    async discard(): Promise<void> {
      await db.discard()
      staging.close()
    },
  }
}

/** Creates what cuts listings as their rows are staged, if the resource has never had a record. */
async function createCutter(db: ImportConnection, { target, source }: ImportPlan) {
  const { resource } = target
  if (resource === undefined || (await db.tables.hasHeads(resource.name))) return undefined
  return createListingCutter(resource, await likelySourceId(db, source))
}

async function mergeStaged(
  context: ImportContext,
  onProblem: (problem: StagedProblem) => void,
): Promise<Merged> {
  const { staging, tables, plan, source, numbers, parts } = context
  parts('placing')(0)
  const isInPlace = await areInPlace(context)
  if (isInPlace) await makeById(staging, tables)
  else {
    staging.loadAll()
    await makeCompanies(context)
    await placeRows(context)
  }
  await reportLikeSources(context)
  // If nothing has to be compared, the rows are the listings, unless the source's number was
  // guessed wrong.
  const cutter = isInPlace && context.isFirst ? staging.cut() : undefined
  const cut = cutter?.source === source ? cutter : undefined
  const recording = await openRecording(context)
  let recorded = 0
  let held: number | undefined = 0
  if (cut === undefined) {
    held = await findChanges(context)
    if (recording !== undefined) recorded = await stageDifferences(context, recording)
  }
  const refused = reportRefused(staging, onProblem)
  const companiesCreated = countCreated(staging)
  const { rows } = staging.facts
  const { changing, ...changes } =
    cut === undefined
      ? countChanges(staging)
      : { inserted: rows, updated: 0, removed: 0, changing: rows }
  const difference = await findDifference(context)
  await writeCompanies(context)
  const { resource } = plan.target
  if (resource === undefined) await applyCompanies(context)
  else {
    await writeKeys(context)
    if (cut !== undefined) await applyFirst(context, cut)
    else await applyRecords(context, { resource, source }, parts('writing'))
  }
  if (recording !== undefined && recorded > 0) await appendRecorded(context, recording, recorded)
  await numbers.note()
  return {
    counts: {
      ...changes,
      unchanged: rows - refused - changing,
      refused,
      companiesCreated,
      recorded,
      ...context.gate.counts,
    },
    difference,
    held: held ?? (await countHeld(context)),
    companiesNamed: await countNamed(context, resource ? companiesCreated : changes.inserted),
  }
}

/** How many companies of the import are looked up at most, to find a forgotten `--source`. */
const sampledMax = 1_000

const firstCompanies = `
  select distinct company_id from (
    select company_id from stage where digest is not null limit 10000
  ) limit ${sampledMax}`

/** Reports which sources have the companies, if the source of the import may be a mistake. */
async function reportLikeSources(context: ImportContext): Promise<void> {
  const { db, plan, source, sources, staging } = context
  const { isSourceAssumed, onLikeSources } = plan
  const hasOthers = sources
    .values()
    .some(({ name }) => name !== plan.source && !isRecordingSource(name))
  if (onLikeSources === undefined || !hasOthers) return
  const imports = 'select count(*) from imports where source_id = $1'
  const isNew = (await numberIn(db, imports, source)) === 0
  if (isSourceAssumed !== true && !isNew) return
  const companies = staging.isLoaded()
    ? staging.rows(firstCompanies).map(([company]) => Number(company))
    : [...givenCompanies(staging).take(sampledMax)]
  onLikeSources(await countBySource(context, companies), companies.length)
}

/** Writes the staged records of the changes: all are new, so nothing has to be compared. */
async function appendRecorded(
  context: ImportContext,
  recording: OpenRecording,
  count: number,
): Promise<void> {
  const { staging, db } = context
  const needed = { most: count, count: () => count }
  const lastId = await lastAssigned(context, recording.resource, needed)
  await db.run('update store set recorded = $1', lastId + count)
  staging.run('delete from change')
  staging.run(
    `insert into change
      select company_id, $lastId + row_number() over (order by seq), seq, 0, 1, null, null,
        at, length
      from stage where seq > $staged`,
    { lastId, staged: staging.staged() },
  )
  await applyRecords(context, recording)
}

/** Reports the refused rows, one by one, since all rows may be refused. */
function reportRefused(staging: Staging, onProblem: (problem: StagedProblem) => void): number {
  let refused = 0
  const rows = staging.read(`
    select r.field, r.value, r.reason, s.at, s.length
    from refused r cross join stage s on s.seq = r.seq order by r.seq`)
  for (const [columns, row] of rows) {
    const [field, value, reason] = columns as [string, unknown, string]
    onProblem({ ...placeIn(row), field, value, reason, row: stagedRowIn(row) })
    refused += 1
  }
  return refused
}

async function logImport(
  { db, plan, source, version, asOf }: ImportContext,
  { counts, files, attributes, difference }: ImportOutcome,
): Promise<void> {
  const { target, recording, isSnapshot, startedAt, recipe } = plan
  const { recorded, ...outcomes } = counts
  await logVersion(db, {
    version,
    target: target.name,
    source,
    startedAt,
    counts: outcomes,
    asOf,
    isSnapshot,
    files,
    recipe,
    attributes,
    difference,
    // Without a day, nothing is recorded.
    recorded: recording && asOf !== null ? { [recording.resource.name]: recorded } : {},
  })
}
