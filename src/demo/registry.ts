// A made-up registry, the same on every machine. It is data, not code that serves: the one place
// outside resources/ that knows fields by their names, as any operator's extract does.

import { createRandom, type Random } from './random.ts'
import { vocabularies, type Vocabulary } from './vocabulary.ts'

/** A row of an import: a company or a record, by its columns. */
export type Row = Readonly<Record<string, unknown>>

const seed = 20_241_120
export const companyCount = 3_000
/** The company with the long history, and how long that is. */
export const longHistoryId = 2
export const longHistoryLength = 250_000
/** The companies from here on have nothing but a name. */
export const firstEmptyId = 2_901

const dayMs = 86_400_000
const beginning = Date.UTC(2005, 0, 3)
const days = 7_300

interface Company {
  readonly id: number
  readonly identifier: string
  readonly name: string
  readonly words: Vocabulary
}

/** The rows of one import of the demonstration. */
export interface DemoExtract {
  /** What is imported: companies, or a resource. */
  readonly name: string
  readonly rows: () => Iterable<Row>
}

/** The whole demonstration, in the order in which it is imported. */
export function demoExtracts(): readonly DemoExtract[] {
  const random = createRandom(seed)
  const companies = Array.from({ length: companyCount }, (_, index) =>
    makeCompany(random, index + 1),
  )
  const busy = companies.filter(({ id }) => id < firstEmptyId)
  return [
    { name: 'companies', rows: () => companies.map(companyRow) },
    { name: 'rights', rows: () => rightRows(createRandom(seed + 1), busy) },
    { name: 'employees', rows: () => employeeRows(createRandom(seed + 2), busy) },
    { name: 'jobs', rows: () => jobRows(createRandom(seed + 3), busy) },
    { name: 'pos_terminals', rows: () => terminalRows(createRandom(seed + 4), busy) },
    { name: 'events', rows: () => eventRows(createRandom(seed + 5), busy) },
  ]
}

function makeCompany(random: Random, id: number): Company {
  const words = random.pick(id <= 2 ? vocabularies.slice(0, 1) : vocabularies)
  const name = words.companyForm(
    random.pick(words.companyNames),
    random.pick(words.companyKinds),
    random.pick(words.legalForms),
  )
  return { id, identifier: String(10_000_000 + id * 7_919), name, words }
}

function companyRow({ id, identifier, name, words }: Company): Row {
  return { id, jurisdiction: words.jurisdiction, identifier, name }
}

/** How many records of a kind a company has: the first one enough for several pages. */
function amount({ id }: Company, random: Random, most: number, ofFirst: number): number {
  return id === 1 ? ofFirst : random.integer(0, most)
}

function moment(random: Random): Date {
  return new Date(beginning + random.integer(0, days) * dayMs + random.integer(0, 86_399_999))
}

function later(random: Random, date: Date): Date {
  return new Date(date.getTime() + random.integer(1, 2_000) * dayMs)
}

function person(random: Random, words: Vocabulary): string {
  const names = [random.pick(words.givenNames), random.pick(words.familyNames)]
  return (words.isFamilyNameFirst ? names.reverse() : names).join(' ')
}

function address(random: Random, words: Vocabulary): string {
  return `${random.pick(words.streets)} ${random.integer(1, 240)}, ${random.pick(words.cities)}`
}

/** When the register first held a record, and when it last changed it. */
function stamps(random: Random, since: Date): Row {
  return { created_at: since.toISOString(), updated_at: later(random, since).toISOString() }
}

const rightKinds = ['trademark', 'patent', 'design', 'utility_model']
const rightStates = ['registered', 'pending', 'expired', 'opposed']

/** Some rights have two holders: the same record then stands in the listings of both. */
function* rightRows(random: Random, companies: readonly Company[]): Generator<Row> {
  let id = 0
  for (const company of companies) {
    for (let left = amount(company, random, 6, 230); left > 0; left--) {
      id += 1
      const second = random.oneIn(12) ? random.pick(companies) : company
      const holders = [...new Set([company, second])]
      const application = moment(random)
      const record = {
        id,
        jurisdiction: company.words.jurisdiction,
        name: random.pick(company.words.brands),
        object_type: random.pick(rightKinds),
        status: random.pick(rightStates),
        registration_number: `${company.words.jurisdiction}${String(4_000_000 + id)}`,
        registration_date: later(random, application).toISOString().slice(0, 10),
        application_date: application.toISOString().slice(0, 10),
        holders: holders.map(({ name }) => name),
        ...stamps(random, application),
      }
      for (const holder of holders) yield { company_id: holder.id, ...record }
    }
  }
}

function* employeeRows(random: Random, companies: readonly Company[]): Generator<Row> {
  let id = 0
  for (const company of companies) {
    for (let left = amount(company, random, 12, 140); left > 0; left--) {
      id += 1
      const start = moment(random)
      yield {
        company_id: company.id,
        id,
        identifier: String(770_000_000_000 + id * 104_729),
        name: person(random, company.words),
        position: random.pick(company.words.positions),
        employer_identifier: company.identifier,
        employer_name: company.name,
        employer_jurisdiction: company.words.jurisdiction,
        start_date: start.toISOString().slice(0, 10),
        end_date: random.oneIn(3) ? later(random, start).toISOString().slice(0, 10) : null,
        ...stamps(random, start),
      }
    }
  }
}

function* jobRows(random: Random, companies: readonly Company[]): Generator<Row> {
  let id = 0
  for (const company of companies) {
    for (let left = amount(company, random, 3, 24); left > 0; left--) {
      id += 1
      const lowest = random.integer(18, 90) * 1_000
      yield {
        company_id: company.id,
        id,
        title: random.pick(company.words.jobs),
        description: random.pick(company.words.jobDescriptions),
        salary_from: lowest,
        salary_to: lowest + random.integer(0, 20) * 1_000,
        currency: company.words.currency,
        location: random.pick(company.words.cities),
        ...stamps(random, moment(random)),
      }
    }
  }
}

function* terminalRows(random: Random, companies: readonly Company[]): Generator<Row> {
  let id = 0
  for (const company of companies) {
    for (let left = amount(company, random, 4, 36); left > 0; left--) {
      id += 1
      yield {
        company_id: company.id,
        id,
        terminal_id: `T-${String(id).padStart(6, '0')}`,
        location: address(random, company.words),
        bank_name: random.pick(company.words.banks),
        status: random.pick(['active', 'active', 'active', 'suspended', 'closed']),
        jurisdiction: company.words.jurisdiction,
      }
    }
  }
}

function* eventRows(random: Random, companies: readonly Company[]): Generator<Row> {
  let id = 0
  for (const company of companies) {
    const isLong = company.id === longHistoryId
    const length = isLong ? longHistoryLength : amount(company, random, 8, 120)
    for (let left = length; left > 0; left--) {
      id += 1
      const { words } = company
      const changes: readonly (readonly [string, string, string])[] = [
        ['address', address(random, words), address(random, words)],
        ['officers', person(random, words), person(random, words)],
        ['status', 'active', random.pick(['dormant', 'liquidation', 'active'])],
        ['capital', String(random.integer(1, 90) * 1_000), String(random.integer(1, 90) * 1_000)],
      ]
      const [attr, before, after] = random.pick(changes)
      yield {
        company_id: company.id,
        id,
        jurisdiction: words.jurisdiction,
        date: moment(random).toISOString(),
        attr,
        before,
        after,
        identifier: company.identifier,
      }
    }
  }
}
