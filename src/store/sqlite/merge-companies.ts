// The merge of companies: what each source says of them, beside what names them.

import {
  changeDiffering,
  changedAttributes,
  findDiffering,
  keepAttributes,
  type MergeSteps,
} from '../sql/merge-steps.ts'
import { namedCompany, placedCompany } from './named-companies.ts'

/** The statements that merge companies, in the order in which they run. */
export const mergeCompanies: MergeSteps = {
  place: [
    `insert into placed
      select seq, company, company, '', digest
      from (select s.seq, ${placedCompany} as company, s.digest from stage s ${namedCompany})
      order by seq`,
  ],

  refuse: [
    `insert or ignore into refused
      select s.seq, 'as_of', null, 'is missing; other rows have it, and --as-of was not given'
      from stage s
      where $asOf is not null and $isAsOfOfRows and s.as_of is null and s.content is not null`,
    findDiffering,
    // Dates that go back could not be told as a history.
    `insert or ignore into refused
      select s.seq, 'as_of', coalesce(s.as_of, $asOf),
        'is before ' || d.as_of || ', of when the registry knows something else'
      from differing d
      join stage s on s.seq = d.seq
      where $asOf is not null and coalesce(s.as_of, $asOf) < d.as_of and d.known <> d.digest`,
  ],

  findChanges: [
    changeDiffering,
    `create temp table removal as
      select a.company_id from company_attributes a
      where $isSnapshot and a.source_id = $source and a.is_present
        and not exists (select 1 from placed p where p.id = a.company_id)`,
  ],

  // What a lacking company's source said last is kept, to be compared when it comes back.
  apply: [
    keepAttributes,
    `update company_attributes
      set is_present = 0, version = $version,
        as_of = max(coalesce($asOf, as_of), coalesce(as_of, $asOf))
      where source_id = $source and company_id in (select company_id from removal)`,
    `insert into company_attributes
      (company_id, source_id, version, digest, attributes, as_of)
      select c.company_id, $source, $version, c.digest, s.content, coalesce(s.as_of, $asOf)
      from change c join stage s on s.seq = c.seq
      where true order by c.company_id
      on conflict do update set version = $version, digest = excluded.digest,
        attributes = excluded.attributes, as_of = coalesce(excluded.as_of, as_of), is_present = 1`,
  ],
}

/**
 * What the source said before, and says now, of each company that it has spoken of before; in the
 * columns that `recordDifferences` reads.
 */
export const companyDifferences = `
  select k.id, k.jurisdiction, k.identifier, d.*
  from (
    select c.company_id, coalesce(s.as_of, $asOf) as as_of, a.is_present as was_present,
      1 as is_present, a.attributes as text, 1 as is_before, 0 as is_after
      ${changedAttributes}
    union all
    select c.company_id, coalesce(s.as_of, $asOf), a.is_present, 1, s.content, 0, 1
      ${changedAttributes}
    union all
    select g.company_id, max($asOf, coalesce(a.as_of, '')), 1, 0, a.attributes, 1, 1
      from removal g
      join company_attributes a on a.company_id = g.company_id and a.source_id = $source
  ) d
  join companies k on k.id = d.company_id
  order by k.id`
