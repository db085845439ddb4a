// A sample registry, the same on every machine. It is data: the only place outside resources/ that
// knows resources and fields by name, as any operator's extract does.

import { eventRows } from './history.ts'
import { createRandom, isoDay, laterMoment, moment, type Random } from './random.ts'
import { vocabularies, type Vocabulary } from './vocabulary.ts'

const seed = 20_241_120
export const companyCount = 3_000
/** The company with several pages of every resource. */
export const showcaseId = 1
/** The company with the long history, its listing, and the number of its records. */
export const longHistoryId = 2
/** Its own name, by which the README looks for it. */
export const longHistoryName = 'Northwind'
export const longHistoryListing = 'events'
export const longHistoryLength = 250_000
/** Companies from this id on have no records. */
export const firstEmptyId = 2_901

/** A row of an import: a company or a record, by its columns. */
export type Row = Readonly<Record<string, unknown>>

export interface Company {
  readonly id: number
  readonly identifier: string
  /** Its own name, without trade and legal form. */
  readonly ownName: string
  readonly name: string
  readonly words: Vocabulary
}

/** The rows of one import of the demo. */
export interface DemoExtract {
  /** What is imported: companies, or a resource. */
  readonly name: string
  readonly rows: () => Iterable<Row>
}

/** All imports of the demo, in order. */
export function demoExtracts(): readonly DemoExtract[] {
  const random = createRandom(seed)
  const companies = Array.from({ length: companyCount }, (_, index) => {
    const id = index + 1
    // Companies in the banner are of the first country, in English, so that readers can follow.
    const countries = id <= longHistoryId ? vocabularies.slice(0, 1) : vocabularies
    const company = makeCompany(random, id, countries)
    return id === longHistoryId ? rename(company, longHistoryName) : company
  })
  const busy = companies.filter(({ id }) => id < firstEmptyId)
  // Each listing has its own seed, so that a change to one leaves the others unchanged.
  return [
    { name: 'companies', rows: () => companies.map(companyRow) },
    { name: 'rights', rows: () => rightRows(createRandom(seed + 1), busy) },
    { name: 'employees', rows: () => employeeRows(createRandom(seed + 2), busy) },
    { name: 'jobs', rows: () => jobRows(createRandom(seed + 3), busy) },
    { name: 'pos_terminals', rows: () => terminalRows(createRandom(seed + 4), busy) },
    {
      name: longHistoryListing,
      rows: () => {
        const chance = createRandom(seed + 5)
        return eventRows(chance, busy, (company) =>
          company.id === longHistoryId ? longHistoryLength : amount(chance, company, 8, 120),
        )
      },
    },
  ]
}

function makeCompany(random: Random, id: number, countries: readonly Vocabulary[]): Company {
  const words = random.pick(countries)
  const ownName = random.pick(words.nameStems) + random.pick(words.nameEndings)
  const name = words.companyName(ownName, random.pick(words.trades), random.pick(words.legalForms))
  return { id, identifier: String(10_000_000 + id * 7_919), ownName, name, words }
}

/** The company as a row of an import of companies. */
function companyRow({ id, identifier, name, words }: Company): Row {
  return { id, jurisdiction: words.jurisdiction, identifier, name }
}

function rename({ name, ownName, ...company }: Company, other: string): Company {
  return { ...company, ownName: other, name: name.replace(ownName, other) }
}

/** How many records a company gets: the showcase enough for several pages. */
function amount(random: Random, { id }: Company, most: number, ofShowcase: number): number {
  return id === showcaseId ? ofShowcase : random.integer(0, most)
}

/** A company for each record, and the id of that. */
function* recordPlaces(
  random: Random,
  companies: readonly Company[],
  [most, ofShowcase]: readonly [most: number, ofShowcase: number],
): Generator<{ readonly company: Company; readonly id: number }> {
  let id = 0
  for (const company of companies) {
    for (let left = amount(random, company, most, ofShowcase); left > 0; left--) {
      id += 1
      yield { company, id }
    }
  }
}

/** When the register created a record, and when it last changed it. */
function stamps(random: Random, since: number): Row {
  const created = laterMoment(random, since, 20)
  return {
    created_at: new Date(created).toISOString(),
    updated_at: new Date(laterMoment(random, created, 900)).toISOString(),
  }
}

const rightKinds = ['trademark', 'patent', 'design', 'utility_model']
const rightStates = ['registered', 'registered', 'registered', 'pending', 'expired', 'opposed']

/** Some rights have two holders: the same record is then in the listings of both. */
function* rightRows(random: Random, companies: readonly Company[]): Generator<Row> {
  for (const { company, id } of recordPlaces(random, companies, [6, 230])) {
    const second = random.oneIn(12) ? random.pick(companies) : company
    const holders = [...new Set([company, second])]
    const { jurisdiction, lines, rightName } = company.words
    const status = random.pick(rightStates)
    const application = moment(random)
    const registration = laterMoment(random, application, 700)
    const record = {
      id,
      jurisdiction,
      name: rightName(company.ownName, random.pick(lines)),
      object_type: random.pick(rightKinds),
      status,
      registration_number: `${jurisdiction}${4_000_000 + id}`,
      registration_date: status === 'pending' ? null : isoDay(registration),
      application_date: isoDay(application),
      holders: holders.map(({ name }) => name),
      ...stamps(random, registration),
    }
    for (const holder of holders) yield { company_id: holder.id, ...record }
  }
}

function* employeeRows(random: Random, companies: readonly Company[]): Generator<Row> {
  for (const { company, id } of recordPlaces(random, companies, [12, 140])) {
    const { words } = company
    const start = moment(random)
    yield {
      company_id: company.id,
      id,
      identifier: String(770_000_000_000 + id * 104_729),
      name: words.personName(random.pick(words.givenNames), random.pick(words.familyNames)),
      position: random.pick(words.positions),
      employer_identifier: company.identifier,
      employer_name: company.name,
      employer_jurisdiction: words.jurisdiction,
      start_date: isoDay(start),
      end_date: random.oneIn(3) ? isoDay(laterMoment(random, start, 2_000)) : null,
      ...stamps(random, start),
    }
  }
}

function* jobRows(random: Random, companies: readonly Company[]): Generator<Row> {
  for (const { company, id } of recordPlaces(random, companies, [3, 24])) {
    const { words } = company
    const hasSalary = !random.oneIn(4)
    const lowest = random.integer(18, 90) * 1_000
    yield {
      company_id: company.id,
      id,
      title: random.pick(words.jobs),
      description: random.pick(words.jobDescriptions),
      salary_from: hasSalary ? lowest : null,
      salary_to: hasSalary ? lowest + random.integer(0, 20) * 1_000 : null,
      currency: hasSalary ? words.currency : null,
      location: random.pick(words.cities),
      ...stamps(random, moment(random)),
    }
  }
}

function* terminalRows(random: Random, companies: readonly Company[]): Generator<Row> {
  for (const { company, id } of recordPlaces(random, companies, [4, 36])) {
    const { words } = company
    const street = random.pick(words.streets)
    yield {
      company_id: company.id,
      id,
      terminal_id: `T-${String(id).padStart(6, '0')}`,
      location: words.address(street, random.integer(1, 240), random.pick(words.cities)),
      bank_name: random.pick(words.banks),
      status: random.pick(['active', 'active', 'active', 'suspended', 'closed']),
      jurisdiction: words.jurisdiction,
    }
  }
}
