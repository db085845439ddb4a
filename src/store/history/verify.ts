// Verifies everything in a store, in one snapshot. The rules are the same for every store; a
// database contributes what differs.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { attributesShape } from '../listing/shape.ts'
import type { StoredChecks, Verification } from '../inspecting.ts'
import { versionEnd } from '../listing/tables.ts'
import { type RegistryDatabase, numberIn } from '../sql/database.ts'
import { verifyCompanies } from './verify-companies.ts'

/** By the kind of fault, a query that finds a sentence on each. */
type Rules = Readonly<Record<string, string>>

/** A database connection within one snapshot. */
interface VerifiedDatabase extends RegistryDatabase {
  /** The message of an error caused by unreadable files; undefined for other errors. */
  damageIn(error: unknown): string | undefined
  /** Rules for its files, and for tables that only this database has. */
  readonly rules: Rules
}

/**
 * Checks everything that is stored, and changes nothing.
 *
 * @param onStep is called often with what is being checked; throwing in it stops the verification.
 */
export async function verifyStore(
  db: VerifiedDatabase,
  resources: readonly Resource[],
  checks: StoredChecks,
  onStep: (step: string) => void,
): Promise<Verification> {
  const { report, faults } = collectFaults()
  let counted: Counted = { counts: {}, pastStates: {} }
  try {
    onStep('the file')
    await applyRules(db, db.rules, report)
    onStep('the log')
    await applyRules(db, rules, report)
    await verifyCompanies(resources, { db, checks, report, onStep })
    counted = await countAll(db, resources)
  } catch (error) {
    const damage = db.damageIn(error)
    if (damage === undefined) throw error
    report('file', `file: it cannot be read completely: ${damage}`)
  }
  return { ...counted, faults: faults() }
}

type Counted = Omit<Verification, 'faults'>

/** How much there is, by name. */
async function countAll(db: RegistryDatabase, resources: readonly Resource[]): Promise<Counted> {
  const companies = await numberIn(db, 'select count(*) from companies')
  const names = await numberIn(db, 'select count(*) from names')
  const countBy = async (count: string, table: string) => {
    const sql = `select listing, ${count} from ${table} group by listing`
    return new Map(await db.rows<readonly [string, number]>(sql))
  }
  const records = await countBy('count(*)', 'record_ids')
  const former = await countBy('count(*) - count(distinct company_id)', 'heads')
  const listings = resources.map(({ name }) => name)
  const numbersIn = (of: readonly string[], found: ReadonlyMap<string, number>) =>
    Object.fromEntries(of.map((listing) => [listing, found.get(listing) ?? 0]))
  return {
    counts: { companies, names, ...numbersIn(listings, records) },
    pastStates: numbersIn([attributesShape.listing, ...listings], former),
  }
}

async function applyRules(db: RegistryDatabase, all: Rules, report: Report): Promise<void> {
  for (const [kind, sql] of Object.entries(all)) {
    for await (const rows of db.batches<[sentence: string]>(sql)) {
      for (const [sentence] of rows) report(kind, sentence)
    }
    await nextTurn()
  }
}

const isUnknownVersion = (column: string) => `${column} not in (select version from imports)`

const pastFrom = '(select past_from from store)'

const headIn = "listing || ' of company ' || company_id || ', version ' || version"

const rules: Rules = {
  lineages: `
    select 'import ' || version || ': another import has the same lineage' from imports
    where lineage in (select lineage from imports group by lineage having count(*) > 1)`,
  'company versions': `
    select 'company ' || id || ': known since version ' || version || ', which does not exist'
    from companies where ${isUnknownVersion('version')}`,
  'company past': `
    select 'company ' || company_id || ': a past state has the versions ' || version
      || ' to ' || until
    from company_states
    where until < ${versionEnd} and (version >= until or ${isUnknownVersion('until')})`,
  'head versions': `
    select ${headIn} || ': there is no such version'
    from heads where ${isUnknownVersion('version')}`,
  // What was known at versions before the earliest one is pruned; and a listing may have become
  // empty in the version that forgot its company.
  'head companies': `
    select ${headIn} || ': the company was not known then'
    from heads h where not exists (
      select 1 from company_states s where s.company_id = h.company_id
        and (h.version between s.since and s.until or h.version <= ${pastFrom})
    ) and not ${isUnknownVersion('h.version')}`,
  'assigned ids': `
    select listing || ': several keys have the id ' || id
    from record_keys group by listing, id having count(*) > 1`,
  'sources of keys': `
    select listing || ': the id ' || id || ' is assigned to no source' from record_keys
    where source_id not in (select id from sources) order by listing, id`,
  'record sources': `
    select listing || ': the record ' || id || ' has more than one source'
    from record_ids group by listing, id having min(source_id) <> max(source_id)`,
}

/** How many faults of each kind are reported individually. */
const faultsShownMax = 20

export type Report = (kind: string, sentence: string) => void

/** Collects faults: the first ones of each kind, and their number. */
function collectFaults() {
  const kinds = new Map<string, { readonly shown: string[]; count: number }>()
  const report: Report = (kind, sentence) => {
    const known = kinds.get(kind) ?? { shown: [], count: 0 }
    kinds.set(kind, known)
    known.count += 1
    if (known.count <= faultsShownMax) known.shown.push(sentence)
  }
  const faults = () =>
    [...kinds].flatMap(([kind, { shown, count }]) =>
      count > shown.length ? [...shown, `${kind}: … and ${count - shown.length} more`] : shown,
    )
  return { report, faults }
}
