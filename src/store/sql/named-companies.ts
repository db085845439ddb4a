// The companies that rows name: found, given the names that they lack, and made. How companies are
// named and made is each database's own; which ones, and what a row's company is, stands here.

import type { Dialect } from './dialect.ts'

/** Statements of which the last ones make or unmake companies, one for each row they change. */
export interface CountedSteps {
  readonly before: readonly string[]
  readonly companies: readonly string[]
}

/** What a database does to companies, given `reference`: see `createReference`. */
export interface CompanyStatements {
  /** Gives companies that were known by their ids alone their names. */
  readonly name: readonly string[]
  /**
   * Makes the companies that rows name and nobody knows.
   *
   * @param isByIdToo makes those, too, that rows name by an id alone.
   */
  create(isByIdToo: boolean): CountedSteps
  /** Unmakes the companies that this import has made and only refused rows have named. */
  readonly dropOrphans: CountedSteps
}

/** The companies that rows name by a jurisdiction and identifier nobody bears yet, each once. */
const createReference = ({ companyNames: { table } }: Dialect) => `
  create temp table reference as
    select company_id as id, company_jurisdiction as jurisdiction,
      company_identifier as identifier, min(seq) as seq
    from stage s where company_identifier is not null and content is not null
      and not exists (
        select 1 from ${table} n
        where n.jurisdiction = s.company_jurisdiction and n.identifier = s.company_identifier
      )
    group by 1, 2, 3`

/** Gives companies that were known by their id alone their names. */
export const completeCompanies = (d: Dialect): readonly string[] => [
  createReference(d),
  ...d.filled('reference'),
  ...d.companies.name,
]

const namedCompany = ({ companyNames: { table } }: Dialect) => `
  left join ${table} c
    on c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier`

/** Joins what `placedCompany` looks at to the stage `s`. */
export const placing = (d: Dialect) => `
  ${namedCompany(d)}
  left join companies k on k.id = s.company_id and s.company_identifier is null`

/** A row's company; null where it has none or where its id and its name are of different ones. */
export const placedCompany = ({ companyNames: { id } }: Dialect) => `
  case when s.company_identifier is null then k.id
    else case when coalesce(s.company_id, c.${id}) = c.${id} then c.${id} end
  end`

/** Says why a row has no company; few rows do, so this may take its time. */
export const refuseUnplaced = (d: Dialect) => `
  insert into refused
    select s.seq,
      case when s.company_identifier is null or s.company_id is not null
        then $idColumn else $identifierColumn end,
      case when s.company_identifier is null or s.company_id is not null
        then ${d.anyValueOf('s.company_id')} else ${d.anyValueOf('s.company_identifier')} end,
      case
        when c.${d.companyNames.id} <> s.company_id then
          s.company_jurisdiction || ' ' || s.company_identifier || ' is company '
            || c.${d.companyNames.id}
        when o.jurisdiction is not null then
          'is ' || o.jurisdiction || ' ' || o.identifier || ' in the registry'
        else 'is not in the registry'
      end
    from placed p
    join stage s on s.seq = p.seq
    ${namedCompany(d)}
    left join companies o on o.id = s.company_id
    where p.company_id is null and p.digest is not null`
