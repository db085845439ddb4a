// The merge of companies: what each source says of them, beside what names them.

import {
  changeDiffering,
  changedAttributes,
  findDiffering,
  keepAttributes,
  type MergeSteps,
} from '../sql/merge-steps.ts'
import { placedCompany, placing } from './named-companies.ts'

/** The statements that merge companies, in the order in which they run. */
export const mergeCompanies: MergeSteps = {
  place: [
    `insert into placed
      select seq, company, company, '', digest
      from (select s.seq, ${placedCompany} as company, s.digest from stage s ${placing}) placed`,
  ],

  refuse: [
    `insert into refused
      select s.seq, 'as_of', null, 'is missing; other rows have it, and --as-of was not given'
      from stage s
      where $asOf is not null and $isAsOfOfRows and s.as_of is null and s.content is not null
    on conflict do nothing`,
    findDiffering,
    'analyze differing',
    // Dates that go back could not be told as a history.
    `insert into refused
      select s.seq, 'as_of', to_jsonb(coalesce(s.as_of, $asOf)),
        'is before ' || d.as_of || ', of when the registry knows something else'
      from differing d
      join stage s on s.seq = d.seq
      where $asOf is not null and coalesce(s.as_of, $asOf) < d.as_of and d.known <> d.digest
    on conflict do nothing`,
  ],

  findChanges: [
    changeDiffering,
    'analyze change',
    `create temp table removal as
      select a.company_id from company_attributes a
      where $isSnapshot and a.source_id = $source and a.is_present
        and not exists (select from placed p where p.company_id = a.company_id)`,
    'analyze removal',
  ],

  // What a lacking company's source said last is kept, to be compared when it comes back.
  apply: [
    keepAttributes,
    `update company_attributes a
      set is_present = false, version = $version, as_of = greatest($asOf, a.as_of)
      from removal r
      where a.source_id = $source and a.company_id = r.company_id`,
    `insert into company_attributes as a
      (company_id, source_id, version, digest, attributes, as_of)
      select c.company_id, $source, $version, c.digest, s.content, coalesce(s.as_of, $asOf)
      from change c join stage s on s.seq = c.seq order by c.company_id
    on conflict (company_id, source_id) do update
      set version = excluded.version, digest = excluded.digest, attributes = excluded.attributes,
        as_of = coalesce(excluded.as_of, a.as_of), is_present = true`,
  ],
}

/**
 * What the source said before, and says now, of each company that it has spoken of before: the
 * rows of `DifferenceRow`.
 */
export const companyDifferences = `
  select k.id, k.jurisdiction, k.identifier, d.*
  from (
    select c.company_id, coalesce(s.as_of, $asOf) as as_of, a.is_present as was_present,
      true as is_present, a.attributes as text, true as is_before, false as is_after
      ${changedAttributes}
    union all
    select c.company_id, coalesce(s.as_of, $asOf), a.is_present, true, s.content, false, true
      ${changedAttributes}
    union all
    select g.company_id, greatest($asOf, a.as_of), true, false, a.attributes, true, true
      from removal g
      join company_attributes a on a.company_id = g.company_id and a.source_id = $source
  ) d
  join companies k on k.id = d.company_id
  order by k.id`
