// What an import changes of listings, before the merge writes over it.

import type { Differences } from '../load-target.ts'
import type { Dialect } from './dialect.ts'
import { gone } from './gone.ts'

/** @param recordText the text of a record, of `change c` and `stage s`. */
export const listingDifferences = (
  d: Dialect,
  name: string,
  history: string,
  recordText: string,
): Differences => ({
  prepare: [findSighted(name, history), ...d.filled('sighted')],
  query: `
    select k.id, k.jurisdiction, k.identifier, $asOf as as_of,
      true as was_present, true as is_present, d.text, d.is_before, d.is_after
    from (
      select r.company_id, r.id, r.record as text, true as is_before,
          g.position is null as is_after
        from sighted t
        join ${name} r on r.company_id = t.company_id and r.source_id = $source
        left join ${gone} g on g.company_id = r.company_id and g.position = r.position
      union all
      select c.company_id, c.id, ${recordText}, false, true
        from sighted t
        join change c on c.company_id = t.company_id
        join stage s on s.seq = c.seq
    ) d
    join companies k on k.id = d.company_id
    order by d.company_id, d.id`,
})

/**
 * The touched companies in which the source has had records before. The first state of a company
 * is no change. Where its last record has gone, the past tells that it had some, and so does what
 * was recorded of it, which outlasts the past when that is pruned.
 */
const findSighted = (name: string, history: string) => `
  create temp table sighted as
    select t.company_id from (
      select company_id from change union select company_id from removal
    ) t
    where exists (
      select 1 from ${name} r where r.company_id = t.company_id and r.source_id = $source
    ) or exists (
      select 1 from ${name}_past p where p.company_id = t.company_id and p.source_id = $source
    ) or exists (
      select 1 from ${history} h
      where h.company_id = t.company_id and h.source_id = $recordingSource
    )`
