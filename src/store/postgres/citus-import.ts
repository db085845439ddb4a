// The session of one import into a PostgreSQL whose tables Citus has spread over several nodes.

import type { Client } from 'pg'
import { OperatorError } from '../../operator-error.ts'
import type { ImportConnection } from '../sql/import.ts'
import { createTables } from '../sql/merge.ts'
import { filterNames } from '../sql/stage.ts'
import { createNewCompanies } from './citus-companies.ts'
import { beginHolding, createBeside } from './citus-moves.ts'
import { spreadDialectOf } from './citus-dialect.ts'
import {
  createWorkSchema,
  dropWorkSchema,
  runStep,
  spreadTable,
  type WorkSchema,
} from './citus-tables.ts'
import { untilDecided } from './citus-undecided.ts'
import { commit } from './commit.ts'
import { databaseOf } from './database.ts'
import { writeIn } from './parameters.ts'
import { settle } from './settle.ts'
import { openStage, stageColumns } from './stage.ts'
import { text } from './text.ts'
import { beginWriting } from './transaction.ts'
import { describeUrl } from './url.ts'

/**
 * One connection to each node: an import is committed on a node in one step, so that its readers
 * never see a part of it.
 */
const sessionSettings = `
  set citus.multi_shard_modify_mode = 'sequential';
  set citus.max_adaptive_executor_pool_size = 1;
  set citus.enable_repartition_joins = on;
  set citus.max_intermediate_result_size = -1;
  set citus.propagate_set_commands = 'local'`

/** For sorts and hashes, on every node. */
const transactionSettings = `
  set local work_mem = '64MB'; set local maintenance_work_mem = '128MB'`

/** @param client a session of its own. */
export async function openSpreadImport(
  client: Client,
  db: string,
  filters: number,
): Promise<ImportConnection> {
  await client.query(sessionSettings)
  // What is undecided keeps its tables locked, and some of them may be left over.
  await untilDecided(db, {})
  const schema = await createWorkSchema(client)
  const { work } = schema
  await createArrived(client, schema, filters)
  const opened = openStage(client, filters, {
    arrived: `${work}.arrived`,
    appended: `stage (${copiedColumns(filters)})`,
  })
  const dialect = spreadDialectOf(work, filters)
  return {
    ...databaseOf(client, db, dialect),
    stage: opened.stage,
    step: (sql, values) => runStep(client, writeIn(sql, values)),
    async begin(wait) {
      await beginHolding(client, schema.store, wait, async (once) => {
        await beginWriting(client, once)
        await untilDecided(db, once)
        await client.query(
          `${transactionSettings}; set local search_path = ${work}, ${schema.store}`,
        )
      })
      await refuseLost(client, db, opened.rows())
      const stage = spreadTable('stage', `${stageColumns(filters)}, given_company_id bigint`, {
        by: 'company_id',
        like: 'companies',
      })
      for (const sql of [...stage, createNewCompanies, ...createTables(dialect)]) {
        await runStep(client, sql)
      }
    },
    async commit() {
      await client.query(`drop schema ${work} cascade`)
      await commit(client, db)
    },
    settle: (written) => settle(client, written),
    async discard() {
      await opened.abandon()
      await client.end().catch(() => undefined)
      await dropWorkSchema(db, schema).catch(() => undefined)
    },
  }
}

async function createArrived(client: Client, { work, store }: WorkSchema, filters: number) {
  const spread = { by: 'place', like: `${store}.company_names` }
  const columns = `${stageColumns(filters)}, place ${text} not null`
  await createBeside(client, spreadTable(`${work}.arrived`, columns, spread))
}

/**
 * Rows that arrive while Citus moves their shard may stay where it was: they are in no log, from
 * which the move would bring them after it.
 */
async function refuseLost(client: Client, db: string, sent: number): Promise<void> {
  const { rows } = await client.query<{ arrived: string }>(
    'select count(*) as arrived from arrived',
  )
  const arrived = Number(rows[0]?.arrived)
  if (arrived === sent) return
  throw new OperatorError(
    `${describeUrl(db)}: ${arrived} of ${sent} rows have arrived, since Citus moved shards ` +
      'meanwhile; nothing was changed, try again',
  )
}

const copiedColumns = (filters: number) =>
  [
    'seq, file, number, company_id, company_jurisdiction, company_identifier',
    'id, key, sort, digest, content, as_of',
    ...filterNames(filters),
  ].join(', ')
