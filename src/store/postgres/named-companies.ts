// The companies that rows name: found, given the names that they lack, and made. What stands for
// `$version` and the like is said in merge.ts.

/** The companies that rows name by a jurisdiction and identifier nobody bears yet, each once. */
const createReference = `
  create temp table reference as
    select company_id as id, company_jurisdiction as jurisdiction,
      company_identifier as identifier, min(seq) as seq
    from stage s where company_identifier is not null and content is not null
      and not exists (
        select from company_names n
        where n.identifier = s.company_identifier and n.jurisdiction = s.company_jurisdiction
      )
    group by 1, 2, 3`

/** A company that was known by its id alone gets its name, where no other one has it. */
const nameCompanies = `
  with named as (
    insert into company_names (jurisdiction, identifier, company_id)
      select distinct on (r.id) r.jurisdiction, r.identifier, r.id
      from reference r join companies c on c.id = r.id
      where c.jurisdiction is null
      order by r.id, r.jurisdiction desc, r.identifier desc
    on conflict do nothing
    returning jurisdiction, identifier, company_id
  ), former as (
    insert into companies_past (company_id, until, version)
      select n.company_id, $version, c.version
      from named n join companies c on c.id = n.company_id
  )
  update companies set jurisdiction = n.jurisdiction, identifier = n.identifier
  from named n where n.company_id = companies.id`

/** In the order read: who comes first has the id and the name. */
const createCompaniesWithId = `
  insert into newcomer
    select r.id, r.jurisdiction, r.identifier
    from reference r
    where r.id is not null
      and not exists (select from companies c where c.id = r.id)
      and not exists (
        select from company_names n
        where n.identifier = r.identifier and n.jurisdiction = r.jurisdiction
      )
    order by r.seq
  on conflict do nothing`

const createCompaniesByName = `
  insert into newcomer
    select greatest(
        $assignedIdMin - 1,
        $stagedCompanyId,
        (select max(id) from companies where id < $assignedIdEnd),
        (select max(id) from newcomer where id < $assignedIdEnd)
      ) + row_number() over (order by min(r.seq)),
      r.jurisdiction, r.identifier
    from reference r
    where r.id is null
      and not exists (
        select from company_names n
        where n.identifier = r.identifier and n.jurisdiction = r.jurisdiction
      )
      and not exists (
        select from newcomer n
        where n.identifier = r.identifier and n.jurisdiction = r.jurisdiction
      )
    group by r.jurisdiction, r.identifier`

const createCompaniesById = `
  insert into newcomer (id)
    select distinct s.company_id from stage s
    where s.company_identifier is null and s.company_id is not null and s.content is not null
      and not exists (select from companies c where c.id = s.company_id)
  on conflict do nothing`

/** Gives companies that were known by their id alone their names. */
export const completeCompanies: readonly string[] = [
  createReference,
  'analyze reference',
  nameCompanies,
]

/** Makes the companies that were noted. */
const createNewcomers: readonly string[] = [
  'analyze newcomer',
  `insert into companies (id, jurisdiction, identifier, version)
    select id, jurisdiction, identifier, $version from newcomer order by id`,
  `insert into company_names (jurisdiction, identifier, company_id)
    select jurisdiction, identifier, id from newcomer where identifier is not null
    order by identifier, jurisdiction`,
]

/** Makes the companies that rows name by jurisdiction and identifier and nobody knows. */
export const createNamedCompanies: readonly string[] = [
  createCompaniesWithId,
  createCompaniesByName,
  ...createNewcomers,
]

/** Makes all companies that records name and the registry does not know. */
export const createCompanies: readonly string[] = [
  createCompaniesWithId,
  createCompaniesByName,
  createCompaniesById,
  ...createNewcomers,
]

// A row's company, and null where it has none or where its id and its name are of different ones.
export const placedCompany = `
  case when s.company_identifier is null then k.id
    else case when coalesce(s.company_id, c.company_id) = c.company_id then c.company_id end
  end`

const namedCompany = `
  left join company_names c
    on c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier`

export const placing = `
  ${namedCompany}
  left join companies k on k.id = s.company_id and s.company_identifier is null`

/** Says why a row has no company; few rows do, so this may take its time. */
export const refuseUnplaced = `
  insert into refused
    select s.seq,
      case when s.company_identifier is null or s.company_id is not null
        then '$idColumn' else '$identifierColumn' end,
      case when s.company_identifier is null or s.company_id is not null
        then to_jsonb(s.company_id) else to_jsonb(s.company_identifier) end,
      case
        when c.company_id <> s.company_id then
          s.company_jurisdiction || ' ' || s.company_identifier || ' is company ' || c.company_id
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
export const dropOrphans: readonly string[] = [
  `delete from newcomer n where exists (
    select from placed p where p.company_id = n.id and p.digest is not null
  )`,
  `delete from company_names n using newcomer o
    where n.identifier = o.identifier and n.jurisdiction = o.jurisdiction`,
  'delete from companies c using newcomer o where c.id = o.id',
]
