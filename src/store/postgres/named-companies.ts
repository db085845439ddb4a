// Names and creates companies in PostgreSQL; ../sql/named-companies.ts has the rules. New ones are
// collected in `new_companies` first, because `companies` has no unique constraint on names.

import { type CompanyStatements, lastCompanyId } from '../sql/named-companies.ts'
import { text } from './text.ts'

export const columnsOfNew = `
    id bigint primary key, jurisdiction ${text}, identifier ${text},
    unique (jurisdiction, identifier)`

/** The companies that an import creates. */
export const createNewCompanies = `create temp table new_companies (${columnsOfNew})`

export const insertNew = `
  insert into companies (id, jurisdiction, identifier, version)
    select id, jurisdiction, identifier, $version from new_companies order by id`

/** Names a company that was known only by its id, unless another company has the name. */
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

/** In the order read: the first row with an id or a name gets it. */
const createCompaniesWithId = `
  insert into new_companies
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
  insert into new_companies
    select greatest(
        ${lastCompanyId('greatest')},
        (select max(id) from new_companies where id < $assignedIdEnd)
      ) + row_number() over (order by min(r.seq)),
      r.jurisdiction, r.identifier
    from reference r
    where r.id is null
      and not exists (
        select from company_names n
        where n.identifier = r.identifier and n.jurisdiction = r.jurisdiction
      )
      and not exists (
        select from new_companies n
        where n.identifier = r.identifier and n.jurisdiction = r.jurisdiction
      )
    group by r.jurisdiction, r.identifier`

const createCompaniesById = `
  insert into new_companies (id)
    select distinct s.company_id from stage s
    where s.company_identifier is null and s.company_id is not null and s.content is not null
      and not exists (select from companies c where c.id = s.company_id)
  on conflict do nothing`

export const companies: CompanyStatements = {
  name: [nameCompanies],
  create: (isByIdToo) => ({
    before: [
      createCompaniesWithId,
      createCompaniesByName,
      ...(isByIdToo ? [createCompaniesById] : []),
      'analyze new_companies',
      `insert into company_names (jurisdiction, identifier, company_id)
        select jurisdiction, identifier, id from new_companies where identifier is not null
        order by identifier, jurisdiction`,
    ],
    companies: [insertNew],
  }),
  dropOrphans: {
    before: [
      `delete from new_companies n where exists (
        select from placed p where p.company_id = n.id and p.digest is not null
      )`,
      `delete from company_names n using new_companies o
        where n.identifier = o.identifier and n.jurisdiction = o.jurisdiction`,
    ],
    companies: ['delete from companies c using new_companies o where c.id = o.id'],
  },
  forget: [
    `delete from company_names n using forgotten f join companies c on c.id = f.id
      where n.identifier = c.identifier and n.jurisdiction = c.jurisdiction
        and n.company_id = c.id`,
    'delete from companies c using forgotten f where c.id = f.id',
  ],
  // Another company may have got the name.
  revive: [
    `with named as (
      insert into company_names (jurisdiction, identifier, company_id)
        select jurisdiction, identifier, id from revived where identifier is not null
      on conflict do nothing
      returning jurisdiction, identifier, company_id
    )
    insert into companies (id, jurisdiction, identifier, version)
      select r.id, n.jurisdiction, n.identifier, $version
      from revived r left join named n on n.company_id = r.id`,
  ],
}
