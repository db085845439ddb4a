// Rows of a query some at a time, so that no result is held as a whole.

import type { Client, QueryResultRow } from 'pg'

const batchSize = 1_000

/** Gives them in a transaction that is open. */
export async function* batchesOf<Row extends QueryResultRow>(
  client: Client,
  sql: string,
): AsyncIterable<readonly Row[]> {
  await client.query(`declare batches no scroll cursor for ${sql}`)
  for (;;) {
    const { rows } = await client.query<Row>(`fetch ${batchSize} from batches`)
    yield rows
    if (rows.length < batchSize) break
  }
  await client.query('close batches')
}
