// Serves from PostgreSQL: a page is a head and a run of segments, over any connection of a pool.

import type { Client, Pool, PoolClient } from 'pg'
import { createStoreReader, type ReadingAccess, type StoreReader } from '../serving/store-reader.ts'
import { comparable } from '../sql/dialect.ts'
import { readStoreId } from '../sql/database.ts'
import { findNames } from '../sql/find-companies.ts'
import { formerCompanySql } from '../sql/read-company.ts'
import { readRegistry } from '../sql/versions.ts'
import { type KeyColumns, keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { createCompanyNodes } from './citus/company-nodes.ts'
import { createEvenState } from './citus/even.ts'
import { createGate, openGate, companyPlace } from './citus/gate.ts'
import { type NodeRole, preparingOf } from './citus/nodes.ts'
import { withConnection } from './connect.ts'
import { distributedDialect } from './dialect.ts'
import { createSnapshots, rowsIn, rowsOn } from './pool-rows.ts'
import { createReads } from './reads.ts'
import type { Rows } from './tables.ts'

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

/** How a store is served. */
interface ReaderOptions {
  readonly storeId: string
  /** On which node of Citus it is read, if that has distributed its tables. */
  readonly role?: NodeRole | undefined
  /** Makes the pool of another node of Citus; undefined if only one node is to be asked. */
  readonly openNode?: ((host: string, port: number) => Pool) | undefined
  /** Throws if a session can no longer read its tables. */
  readonly check: (client: Client) => Promise<void>
}

const findCompanySql =
  'select company_id from company_names where identifier = $1 and jurisdiction = $2'

/** Makes the reader of a store whose tables have been checked. */
export function createReader(
  pool: Pool,
  { storeId, role, openNode, check }: ReaderOptions,
): StoreReader {
  // An address may lead elsewhere from here than from the nodes, and a user may have other rights.
  const checkNode = async (client: PoolClient) => {
    await check(client)
    const own = await readStoreId({ dialect: distributedDialect, rows: rowsOn(client, 'always') })
    if (own !== storeId) throw new Error(`the store there is ${own}`)
  }
  const nodes = role && openNode && createCompanyNodes(pool, openNode, checkNode)
  const even = role === undefined ? undefined : createEvenState(pool, role === 'worker')
  const gate = role === undefined ? openGate : createGate(pool)
  const rows = rowsIn(pool, preparingOf(role !== undefined))
  const reads = createReads(rows, gate, nodes?.rowsOfCompany)
  const { inSnapshot, acrossNodes, ofVersions, ofCompany } = createSnapshots(
    pool,
    reads,
    even,
    nodes?.rowsAt,
  )
  const access: ReadingAccess = {
    reads,
    inRegistry: inSnapshot,
    inCompanies: (companyId, work) =>
      gate(companyId === undefined ? undefined : companyPlace(companyId), () => acrossNodes(work)),
    inVersions: (companyId, work) =>
      gate(companyPlace(companyId), async () => reads.now(() => work(ofCompany(companyId)))),
    fresh: () => ofVersions,
  }
  const firstOf = async <Row extends readonly unknown[]>(...asked: Parameters<Rows>) =>
    (await ofVersions.rows<Row>(...asked))[0]
  return createStoreReader(access, {
    storeId,
    async findCompany([jurisdiction, identifier], version) {
      type Found = [id: number]
      const former =
        version === undefined
          ? undefined
          : await gate(undefined, () =>
              firstOf<Found>(formerCompanySql, identifier, jurisdiction, comparable(version)),
            )
      const place = { table: 'company_names', value: identifier } as const
      const find = () => firstOf<Found>(findCompanySql, identifier, jurisdiction)
      return (former ?? (await gate(place, find)))?.[0]
    },
    findNames: (names, limit) => gate(undefined, () => findNames(ofVersions, names, limit)),
    readRegistry: () => readRegistry(ofVersions),
    async findKey(hash) {
      const row = await firstOf<KeyColumns>(findKeySql, hash)
      return row && keyRecord(row)
    },
    ping: () => withConnection(pool, check),
    close: async () => {
      await Promise.all([pool.end(), nodes?.close()])
    },
  })
}
