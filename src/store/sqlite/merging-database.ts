// What the limit of types (../types-limit.ts) needs to know of SQLite.

import type { DatabaseSync } from 'node:sqlite'
import type { MergingDatabase } from '../types-limit.ts'

const batchSize = 1_000

/** A connection in the middle of a merge. */
export function mergingDatabase(db: DatabaseSync): MergingDatabase {
  return {
    run: (sql) => db.exec(sql),
    all: (sql) => db.prepare(sql).all(),
    *batches(sql) {
      let rows = []
      for (const row of db.prepare(sql).iterate()) {
        rows.push(row)
        if (rows.length < batchSize) continue
        yield rows
        rows = []
      }
      yield rows
    },
    noteBeyond(rows) {
      const insert = db.prepare('insert into beyond values (?, ?, ?, ?)')
      for (const { id, field, value, reason } of rows) insert.run(id, field, value, reason)
    },
    temp: 'temp',
    member: (text, field) => `${text} -> '${field}'`,
    metaLength: 'json_array_length(h.meta)',
  }
}
