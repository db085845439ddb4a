// Names and creates companies in SQLite; ../sql/named-companies.ts has the rules.

import { type CompanyStatements, lastCompanyId } from '../sql/named-companies.ts'

const findNameless = `
  create temp table nameless as
    select id from companies
    where jurisdiction is null and id in (select id from reference where id is not null)`

/** Names a company that was known only by its id, unless another company has the name. */
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

const createCompaniesByName = `
  insert into companies (id, jurisdiction, identifier, version)
    select ${lastCompanyId('max')} + row_number() over (order by min(seq)),
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

const dropOrphans = `
  delete from companies where version = $version and id not in (
    select company_id from placed where company_id is not null and digest is not null
  )`

export const companies: CompanyStatements = {
  name: [findNameless, nameCompanies, keepNameless],
  create: (isByIdToo) => ({
    before: [],
    companies: [
      createCompaniesWithId,
      createCompaniesByName,
      ...(isByIdToo ? [createCompaniesById] : []),
    ],
  }),
  dropOrphans: { before: [], companies: [dropOrphans] },
  forget: ['delete from companies where id in (select id from forgotten)'],
  // Another company may have got the name.
  revive: [
    `insert or ignore into companies (id, jurisdiction, identifier, version)
      select id, jurisdiction, identifier, $version from revived`,
    `insert or ignore into companies (id, version) select id, $version from revived`,
  ],
}
