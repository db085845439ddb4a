// The parts of verifying a store (../history/verify.ts) that are specific to PostgreSQL, which has
// a tool of its own for the files of tables and indexes (pg_amcheck).

import { DatabaseError } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks, Verification } from '../inspecting.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { verifyStore } from '../history/verify.ts'
import { undecidedSql } from './citus/undecided.ts'

interface VerifyPlan {
  readonly resources: readonly Resource[]
  readonly checks: StoredChecks
  /** Whether Citus has distributed the tables over several nodes. */
  readonly isDistributed: boolean
}

export async function verify(
  db: RegistryDatabase,
  { resources, checks, isDistributed }: VerifyPlan,
  onStep: (step: string) => void,
): Promise<Verification> {
  await db.run('begin isolation level repeatable read, read only')
  const verified = {
    ...db,
    damageIn: (error: unknown) => (isDamage(error) ? error.message : undefined),
    rules: {
      'company names': companyNames,
      'held segments': heldSegments,
      ...(isDistributed ? { transactions: undecided } : {}),
    },
  }
  const found = await verifyStore(verified, resources, checks, onStep)
  await db.run('rollback')
  return found
}

const companyNames = `
  select 'company ' || coalesce(c.id, n.company_id)
    || ': its name is missing or wrong in company_names'
  from (select * from companies where identifier is not null) c
  full join company_names n on n.company_id = c.id
  where (c.jurisdiction, c.identifier) is distinct from (n.jurisdiction, n.identifier)`

/** Heads that hold another segment than their only one, or one that has a row of its own, too. */
const heldSegments = `
  select h.listing || ' of company ' || h.company_id || ', version ' || h.version
    || ': it holds the segment ' || h.segment
    || ', which is not its only one, or is there twice'
  from heads h left join segments s on s.company_id = h.company_id and s.segment = h.segment
  where h.texts is not null and (
    s.segment is not null
    or h.directory not like '[0,[' || h.segment || ',%' or h.directory like '%],[%'
  )`

/** Transactions left undecided after the coordinator or a node was lost. */
const undecided = `
  select 'node ' || node || ': transactions are neither committed nor rolled back; '
    || 'Citus decides within a minute, or: select recover_prepared_transactions(): '
    || coalesce(found, 'null')
  from (${undecidedSql(10)}) u`

/** Unreadable data: data_corrupted, index_corrupted, io_error, or text that is not JSON. */
function isDamage(error: unknown): error is DatabaseError {
  const codes = ['XX001', 'XX002', '58030', '22P02']
  return error instanceof DatabaseError && codes.includes(error.code ?? '')
}
