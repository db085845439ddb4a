// The companies that rows name: found, given the names that they lack, and made.

/** The companies that rows name by a jurisdiction and identifier nobody bears yet, each once. */
const createReference = `
  create temp table reference as
    select company_id as id, company_jurisdiction as jurisdiction,
      company_identifier as identifier, min(seq) as seq
    from stage s where company_identifier is not null and content is not null
      and not exists (
        select 1 from companies c
        where c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier
      )
    group by 1, 2, 3`

const findNameless = `
  create temp table nameless as
    select id from companies
    where jurisdiction is null and id in (select id from reference where id is not null)`

/** A company that was known by its id alone gets its name. */
const nameCompanies = `
  update or ignore companies set jurisdiction = r.jurisdiction, identifier = r.identifier
  from reference r where r.id = companies.id and companies.jurisdiction is null`

const keepNameless = `
  insert into companies_past (company_id, until, version)
    select c.id, $version, c.version from nameless n
    join companies c on c.id = n.id and c.jurisdiction is not null`

const createCompaniesWithId = `
  insert or ignore into companies (id, jurisdiction, identifier, version)
    select id, jurisdiction, identifier, $version from reference where id is not null order by seq`

// The store assigns ids behind the greatest that is in use.
export const greatestId = (table: string) =>
  `coalesce((select max(id) from ${table} where id < $assignedIdEnd), 0)`

const createCompaniesByName = `
  insert into companies (id, jurisdiction, identifier, version)
    select max($assignedIdMin - 1, $stagedCompanyId, ${greatestId('companies')})
        + row_number() over (order by min(seq)),
      jurisdiction, identifier, $version
    from reference r
    where r.id is null and not exists (
      select 1 from companies c
      where c.jurisdiction = r.jurisdiction and c.identifier = r.identifier
    )
    group by jurisdiction, identifier`

const createCompaniesById = `
  insert or ignore into companies (id, version)
    select distinct company_id, $version from stage
    where company_identifier is null and company_id is not null and content is not null`

/** Gives companies that were known by their id alone their names. */
export const completeCompanies: readonly string[] = [
  createReference,
  findNameless,
  nameCompanies,
  keepNameless,
]

/** Makes the companies that rows name by jurisdiction and identifier and nobody knows. */
export const createNamedCompanies: readonly string[] = [
  createCompaniesWithId,
  createCompaniesByName,
]

/** Makes all companies that records name and the registry does not know. */
export const createCompanies: readonly string[] = [...createNamedCompanies, createCompaniesById]

// A row's company, and null where it has none or where its id and its name are of different ones.
export const placedCompany = `
  case when s.company_identifier is null
    then (select k.id from companies k where k.id = s.company_id)
    else case when coalesce(s.company_id, c.id) = c.id then c.id end
  end`

export const namedCompany = `
  left join companies c
    on c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier`

/** Says why a row has no company; few rows do, so this may take its time. */
export const refuseUnplaced = `
  insert into refused
    select s.seq,
      case when s.company_identifier is null or s.company_id is not null
        then $idColumn else $identifierColumn end,
      case when s.company_identifier is null or s.company_id is not null
        then s.company_id else s.company_identifier end,
      case
        when c.id <> s.company_id then
          s.company_jurisdiction || ' ' || s.company_identifier || ' is company ' || c.id
        when o.jurisdiction is not null then
          'is ' || o.jurisdiction || ' ' || o.identifier || ' in the registry'
        else 'is not in the registry'
      end
    from placed p
    join stage s on s.seq = p.seq
    ${namedCompany}
    left join companies o on o.id = s.company_id
    where p.company_id is null and p.digest is not null`

/** A company that only refused rows have named is not made. */
export const dropOrphans = `
  delete from companies where version = $version and id not in (
    select company_id from placed where company_id is not null and digest is not null
  )`
