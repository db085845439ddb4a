// Finds, names and creates the companies that rows refer to. How a database names and creates them
// is its own; the rules which ones, and which company a row belongs to, are here.

import type { Dialect } from './dialect.ts'

/** Statements of which `companies` create or delete companies, one per changed row. */
export interface CountedSteps {
  readonly before: readonly string[]
  readonly companies: readonly string[]
}

/** A database's statements on companies, given `reference` (see `createReference`). */
export interface CompanyStatements {
  /** Names companies that were known only by their id. */
  readonly name: readonly string[]
  /**
   * Creates the unknown companies that rows refer to.
   *
   * @param isByIdToo whether to create those, too, that rows refer to only by id.
   */
  create(isByIdToo: boolean): CountedSteps
  /** Deletes the companies that this import has created for refused rows only. */
  readonly dropOrphans: CountedSteps
  /**
   * How rows without a company are found where a join would not find them: statements, and the
   * tables after `from`: rows `s` of the stage, and the companies with the name (`c`) and the id
   * (`o`) that they have.
   */
  readonly unplaced?: { readonly find: readonly string[]; readonly from: string }
  /** Deletes the companies in `forgotten`, by `id`. */
  readonly forget: readonly string[]
  /** Creates the companies in `revived` again: `id`, `jurisdiction`, `identifier`. */
  readonly revive: readonly string[]
}

/**
 * The companies with a jurisdiction and identifier that no company has yet, each once. One that was
 * forgotten gets the id that it had.
 */
const createReference = ({ arrived, arrivedIdentifier, companyNames: { table } }: Dialect) => `
  create temp table reference as
    select coalesce(s.company_id, f.company_id) as id, company_jurisdiction as jurisdiction,
      ${arrivedIdentifier} as identifier, min(seq) as seq
    from ${arrived} s
    left join (${forgottenNames}) f
      on f.jurisdiction = s.company_jurisdiction and f.identifier = s.company_identifier
    where company_identifier is not null and content is not null
      and not exists (
        select 1 from ${table} n
        where n.jurisdiction = s.company_jurisdiction and n.identifier = s.${arrivedIdentifier}
      )
    group by 1, 2, 3`

const forgottenNames = `
      select distinct company_id, jurisdiction, identifier from companies_past p
      where identifier is not null
        and not exists (select 1 from companies c where c.id = p.company_id)`

/** The greatest id that a company has or had, of those after which new ones are assigned. */
export const lastCompanyId = (greatest: string) => `${greatest}(
        $assignedIdMin - 1,
        $stagedCompanyId,
        coalesce((select max(id) from companies where id < $assignedIdEnd), 0),
        coalesce((select max(company_id) from companies_past where company_id < $assignedIdEnd), 0)
      )`

/** Names companies that were known only by their id. */
export const completeCompanies = (d: Dialect): readonly string[] => [
  createReference(d),
  ...d.filled('reference'),
  ...d.companies.name,
]

const namedCompany = ({ companyNames: { table } }: Dialect) => `
  left join ${table} c
    on c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier`

/** Joins the tables that `placedCompany` needs to the stage `s`. */
export const placing = (d: Dialect) =>
  d.isSpread
    ? ''
    : `
  ${namedCompany(d)}
  left join companies k on k.id = s.company_id and s.company_identifier is null`

/** A row's company; none (`isUnplaced`) if id and name belong to different ones, too. */
export const placedCompany = ({ isSpread, companyNames: { id } }: Dialect) =>
  isSpread
    ? 's.company_id'
    : `
  case when s.company_identifier is null then k.id
    else case when coalesce(s.company_id, c.${id}) = c.${id} then c.${id} end
  end`

/** Refuses rows without a company, with the reason; these are few, so it need not be fast. */
export const refuseUnplaced = (d: Dialect): readonly string[] => [
  ...(d.companies.unplaced?.find ?? []),
  refuseUnplacedRows(d),
]

const refuseUnplacedRows = (d: Dialect) => `
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
    from ${d.companies.unplaced?.from ?? unplaced(d)}`

const unplaced = (d: Dialect) => `placed p
    join stage s on s.seq = p.seq
    ${namedCompany(d)}
    left join companies o on o.id = s.company_id
    where p.company_id is null and p.digest is not null`
