// Names and creates companies on Citus; ../sql/named-companies.ts has the rules. Names are compared
// where `company_names` is, ids where `companies` is. New companies are collected and numbered on
// the coordinator.

import { type CompanyStatements, lastCompanyId } from '../sql/named-companies.ts'
import { once, spreadTable } from './citus-tables.ts'
import { columnsOfNew, insertNew } from './named-companies.ts'
import { text } from './text.ts'

/** The companies that an import creates. */
export const createNewCompanies = `create unlogged table new_companies (${columnsOfNew})`

const claimedColumns = `company_id bigint, jurisdiction ${text}, identifier ${text}, seq bigint`
const byCompany = { by: 'company_id', like: 'companies' } as const

/** Keeps the names that no company has yet: of several companies, the one with the least id. */
const takeNames = (from: string): readonly string[] => [
  `insert into company_names (jurisdiction, identifier, company_id)
    select distinct on (jurisdiction, identifier) jurisdiction, identifier, id from ${from}
    where identifier is not null order by jurisdiction, identifier, id
    on conflict do nothing`,
  'drop table if exists named',
  `create unlogged table named as
    select f.id, f.jurisdiction, f.identifier
    from ${from} f
    join company_names n on n.identifier = f.identifier and n.jurisdiction = f.jurisdiction
    where n.company_id = f.id`,
]

/** Names a company that was known only by its id, unless another company has the name. */
const name: readonly string[] = [
  ...spreadTable('claimed', claimedColumns, byCompany),
  `insert into claimed (company_id, jurisdiction, identifier, seq)
    select id, jurisdiction, identifier, seq from reference where id is not null`,
  `create unlogged table naming as
    select distinct on (k.company_id) k.company_id as id, k.jurisdiction, k.identifier
    from claimed k join companies c on c.id = k.company_id
    where c.jurisdiction is null
    order by k.company_id, k.jurisdiction desc, k.identifier desc`,
  ...takeNames('naming'),
  `insert into companies_past (company_id, until, version)
    select c.id, $version, c.version from named n join companies c on c.id = n.id`,
  `update companies set jurisdiction = n.jurisdiction, identifier = n.identifier
    from named n where n.id = companies.id`,
]

const insertNames = `
  insert into company_names (jurisdiction, identifier, company_id)
    select jurisdiction, identifier, id from new_companies where identifier is not null
    on conflict do nothing`

/** In the order read: the first row with an id or a name gets it. */
const createCompaniesWithId: readonly string[] = [
  `insert into new_companies
    select k.company_id, k.jurisdiction, k.identifier
    from claimed k
    where not exists (select 1 from companies c where c.id = k.company_id)
      and (k.jurisdiction, k.identifier) not in (select jurisdiction, identifier from named)
    order by k.seq
    on conflict do nothing`,
  insertNames,
]

// Two values: `new_companies` is not on the nodes.
const lastId = `greatest(
        ${once(lastCompanyId('greatest'))},
        ${once('(select coalesce(max(id), 0) from new_companies where id < $assignedIdEnd)')}
      )`

const createCompaniesByName: readonly string[] = [
  `insert into new_companies
    select ${lastId} + row_number() over (order by r.seq), r.jurisdiction, r.identifier
    from reference r
    where r.id is null and not exists (
      select 1 from company_names n
      where n.identifier = r.identifier and n.jurisdiction = r.jurisdiction
    )`,
  insertNames,
]

const createCompaniesById: readonly string[] = [
  ...spreadTable('mentioned', 'company_id bigint', byCompany),
  `insert into mentioned
    select s.company_id from arrived s
    where s.company_identifier is null and s.company_id is not null and s.content is not null`,
  `insert into new_companies (id)
    select distinct m.company_id from mentioned m
    where not exists (select 1 from companies c where c.id = m.company_id)
    on conflict do nothing`,
]

/** The rows without a company are few, so they are looked at on the coordinator. */
const unplaced = {
  find: [
    `create unlogged table unplaced as
      select s.seq, s.given_company_id as company_id, s.company_jurisdiction, s.company_identifier
      from placed p join stage s on s.company_id = p.company_id and s.seq = p.seq
      where p.company_id < 0 and p.digest is not null`,
    `create unlogged table unplaced_by_name as
      select u.seq, c.company_id from unplaced u
      join company_names c on c.identifier = u.company_identifier
        and c.jurisdiction = u.company_jurisdiction`,
    `create unlogged table unplaced_by_id as
      select u.seq, o.jurisdiction, o.identifier from unplaced u
      join companies o on o.id = u.company_id`,
  ],
  from: `unplaced s
    left join unplaced_by_name c on c.seq = s.seq
    left join unplaced_by_id o on o.seq = s.seq`,
}

const namesOf = (companies: string) => `
  delete from company_names where (identifier, jurisdiction, company_id) in (
    select c.identifier, c.jurisdiction, c.id from ${companies}
  )`

export const companies: CompanyStatements = {
  name,
  create: (isByIdToo) => ({
    before: [
      ...createCompaniesWithId,
      ...createCompaniesByName,
      ...(isByIdToo ? createCompaniesById : []),
      'analyze new_companies',
    ],
    companies: [insertNew],
  }),
  dropOrphans: {
    before: [
      `delete from new_companies where id in (
        select distinct company_id from placed where digest is not null
      )`,
      namesOf('new_companies c'),
    ],
    companies: ['delete from companies where id in (select id from new_companies)'],
  },
  unplaced,
  forget: [
    namesOf('forgotten f join companies c on c.id = f.id'),
    'delete from companies where id in (select id from forgotten)',
  ],
  // Another company may have got the name.
  revive: [
    ...takeNames('revived'),
    `insert into companies (id, jurisdiction, identifier, version)
      select r.id, n.jurisdiction, n.identifier, $version
      from revived r left join named n on n.id = r.id`,
  ],
}
