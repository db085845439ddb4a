// The merge of companies: what each source says about them, apart from their identity.

import type { LoadTarget, RevertSteps } from '../load-target.ts'
import type { Dialect } from './dialect.ts'
import { dropTemporary, type MergeSteps } from './merge.ts'
import { placedCompany, placing } from './named-companies.ts'

/** Companies, with the attributes from their sources. */
export const companiesTarget: LoadTarget = {
  name: 'companies',
  columns: { companyId: 'id', companyIdentifier: 'identifier' },
  metaOf: undefined,
  contradictionField: 'identifier',
  filterCount: 0,
  hasRowDays: true,
  isMadeById: false,
  tables: ['company_attributes'],
  companySources: `
    select s.company_id, a.source_id
    from sample s join company_attributes a on a.company_id = s.company_id
    where a.is_present`,
  merge: mergeCompanies,
  differences: (d) => ({ prepare: [], query: companyDifferences(d) }),
  revert: revertAttributes,
}

function mergeCompanies(d: Dialect): MergeSteps {
  return {
    place: [
      `insert into placed (seq, company_id, id, sort, digest)
        select seq, company, company, '', digest
        from (
          select s.seq, ${placedCompany(d)} as company, s.digest from stage s ${placing(d)}
        ) placed`,
    ],
    refuse: refuse(d),
    findChanges: [
      changeDiffering(d),
      ...d.filled('change'),
      `create temp table removal as
        select a.company_id from company_attributes a
        where $isSnapshot and a.source_id = $source and a.is_present
          and not exists (
            select 1 from placed p where p.id = a.company_id${d.sameCompany('p', 'a')}
          )`,
      ...d.filled('removal'),
    ],
    apply: () => [keepAttributes, markAbsent(d), writeAttributes(d)],
    spoken: [
      `create temp table spoken as
        select company_id from change
        union select company_id from removal
        union select company_id from company_attributes where $isRenaming and source_id = $source`,
      ...d.filled('spoken'),
    ],
  }
}

const refuse = (d: Dialect): readonly string[] => [
  `insert into refused
    select s.seq, 'as_of', null, 'is missing; other rows have it, and --as-of was not given'
    from stage s
    where $asOf is not null and $isAsOfOfRows and s.as_of is null and s.content is not null
    on conflict do nothing`,
  findDiffering,
  ...d.filled('differing'),
  // A history cannot record changes whose dates go backwards.
  `insert into refused
    select s.seq, 'as_of', ${d.anyValueOf('coalesce(s.as_of, $asOf)')},
      'is before ' || d.as_of || ', the date of the data in the registry'
    from differing d
    join stage s on s.seq = d.seq${d.sameCompany('s', 'd')}
    where $asOf is not null and coalesce(s.as_of, $asOf) < d.as_of and d.known <> d.digest
    on conflict do nothing`,
]

/** Rows whose attributes differ from the source's last ones, or whose company was absent. */
const findDiffering = `
  create temp table differing as
    select p.seq, p.company_id, p.digest, a.digest as known, a.is_present, a.as_of
    from placed p
    left join company_attributes a on a.company_id = p.company_id and a.source_id = $source
    where p.digest is not null
      and (a.digest is null or a.digest <> p.digest or not a.is_present)`

/** Those that were not refused; a company that returns counts as new. */
const changeDiffering = (d: Dialect) => `
  create temp table change as
    select d.seq, d.company_id, d.digest, case when d.is_present then d.known end as position,
      true as is_staged
    from differing d
    where exists (
      select 1 from placed p
      where p.seq = d.seq and p.digest is not null${d.sameCompany('p', 'd')}
    )`

/** Moves replaced and removed attributes to the past, in the same transaction. */
const keepAttributes = `
  insert into company_attributes_past
    (company_id, until, source_id, version, digest, attributes, as_of, is_present)
    select company_id, $version, source_id, version, digest, attributes, as_of, is_present
    from company_attributes
    where source_id = $source and company_id in (
      select company_id from removal union select company_id from change
    )
    order by company_id`

/** Keeps an absent company's last attributes, to be compared when it returns. */
const markAbsent = ({ greatest }: Dialect) => `
  update company_attributes
    set is_present = false, version = $version,
      as_of = ${greatest}(coalesce($asOf, as_of), coalesce(as_of, $asOf))
    where source_id = $source and company_id in (select company_id from removal)`

// `where true`: without it, SQLite would parse `on conflict` as a join condition.
const writeAttributes = (d: Dialect) => `
  insert into company_attributes as a
    (company_id, source_id, version, digest, attributes, as_of)
    select c.company_id, $source, $version, c.digest, s.content, coalesce(s.as_of, $asOf)
    from change c join stage s on s.seq = c.seq${d.sameCompany('s', 'c')}
    where true order by c.company_id
    on conflict (company_id, source_id) do update
      set version = excluded.version, digest = excluded.digest,
        attributes = excluded.attributes, as_of = coalesce(excluded.as_of, a.as_of),
        is_present = true`

/** Changed companies that the source had mentioned before. */
const changedAttributes = (d: Dialect) => `
  from change c
  join stage s on s.seq = c.seq${d.sameCompany('s', 'c')}
  join company_attributes a on a.company_id = c.company_id and a.source_id = $source`

/** The source's statements before and after, for each company that it had mentioned before. */
const companyDifferences = (d: Dialect) => `
  select k.id, k.jurisdiction, k.identifier, d.*
  from (
    select c.company_id, coalesce(s.as_of, $asOf) as as_of, a.is_present as was_present,
      true as is_present, a.attributes as text, true as is_before, false as is_after
      ${changedAttributes(d)}
    union all
    select c.company_id, coalesce(s.as_of, $asOf), a.is_present, true, s.content, false, true
      ${changedAttributes(d)}
    union all
    select g.company_id, ${d.greatest}($asOf, coalesce(a.as_of, '')), true, false, a.attributes,
      true, true
      from removal g
      join company_attributes a on a.company_id = g.company_id and a.source_id = $source
  ) d
  join companies k on k.id = d.company_id
  order by k.id`

/** What the source said of each company before the reverted versions. */
const findRestored = `
  create temp table restored as
    select company_id, digest, attributes, as_of, is_present from company_attributes_past
    where source_id = $source and version < $first
      and until in (select version from reverted)`

const isReverted = 'source_id = $source and version in (select version from reverted)'

function revertAttributes(d: Dialect): RevertSteps {
  return {
    spoken: [
      ...dropTemporary(d, 'spoken'),
      `create temp table spoken as
        select company_id from restored
        union select company_id from company_attributes where ${isReverted}`,
      ...d.filled('spoken'),
    ],
    find: [
      ...dropTemporary(d, 'change', 'removal', 'restored'),
      findRestored,
      ...d.filled('restored', 'company_id'),
      `create temp table change as
        select r.company_id, case when a.is_present then a.digest end as position,
          true as is_staged
        from restored r
        left join company_attributes a on a.company_id = r.company_id and a.source_id = $source
        where r.is_present`,
      `create temp table removal as
        select a.company_id from company_attributes a
        where ${isReverted} and a.is_present and not exists (
          select 1 from restored r where r.company_id = a.company_id and r.is_present
        )`,
    ],
    apply: [
      `insert into company_attributes_past
        (company_id, until, source_id, version, digest, attributes, as_of, is_present)
        select company_id, $version, source_id, version, digest, attributes, as_of, is_present
        from company_attributes where ${isReverted} order by company_id`,
      `delete from company_attributes where ${isReverted}`,
      `insert into company_attributes
        (company_id, source_id, version, digest, attributes, as_of, is_present)
        select company_id, $source, $version, digest, attributes, as_of, is_present
        from restored order by company_id`,
    ],
  }
}
