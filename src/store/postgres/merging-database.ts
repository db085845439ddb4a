// What the limit of types (../types-limit.ts) needs to know of PostgreSQL.

import type { Client } from 'pg'
import type { MergingDatabase } from '../types-limit.ts'
import { batchesOf } from './batches.ts'

/** A session in the middle of a merge. */
export function mergingDatabase(client: Client): MergingDatabase {
  return {
    run: (sql) => client.query(sql),
    all: async (sql) =>
      (await client.query(sql)).rows as Awaited<ReturnType<MergingDatabase['all']>>,
    batches: (sql) => batchesOf(client, sql),
    async noteBeyond(rows) {
      await client.query(
        'insert into beyond select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[])',
        [
          rows.map(({ id }) => id),
          rows.map(({ field }) => field),
          rows.map(({ value }) => value),
          rows.map(({ reason }) => reason),
        ],
      )
    },
    temp: 'pg_temp',
    member: (text, field) => `(${text}::json -> '${field}')::text`,
    metaLength: 'json_array_length(h.meta::json)',
  }
}
