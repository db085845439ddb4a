// A sample registry, the same on every machine. It is data: the only place outside resources/ that
// knows resources and fields by name, as any operator's extract does.

import {
  beginning,
  createRandom,
  end,
  isoDay,
  isoSecond,
  laterMoment,
  moment,
  type Random,
} from './random.ts'
import { countries, say, type Words } from './words.ts'

const seed = 20_241_130
export const companyCount = 3_000
/** The company with several pages of every resource. */
export const showcaseId = 1
/** The company with the long history, its listing, and the number of its records. */
export const longHistoryId = 2
export const longHistoryListing = 'events'
export const longHistoryLength = 250_000
/** A word of its name, by which the README looks for it. */
export const longHistoryName = 'Northwind'
/** Companies from this id on have no records. */
export const firstEmptyId = 2_901

/** The companies in the banner; they are of the first country, so that readers can follow. */
const named: Readonly<Record<number, { readonly own: string; readonly company: string }>> = {
  [showcaseId]: { own: 'Ploverhollow', company: 'Ploverhollow Software Ltd' },
  [longHistoryId]: { own: longHistoryName, company: `${longHistoryName} Foods plc` },
}

/** A row of an import: a company or a record, by its columns. */
export type Row = Readonly<Record<string, unknown>>

type Company = Readonly<ReturnType<typeof makeCompany>>

/** All imports of the demo, in order, by the names of what they import. */
export function demoExtracts() {
  const random = createRandom(seed)
  const companies = Array.from({ length: companyCount }, (_, index) =>
    makeCompany(random, index + 1),
  )
  const busy = companies.filter(({ id }) => id < firstEmptyId)
  return [
    { name: 'companies', rows: () => companies.map(companyRow) },
    // Each listing has its own seed, so that a change to one leaves the others unchanged.
    ...Object.entries(listings).map(([name, listing], index) => ({
      name,
      rows: () => recordRows(createRandom(seed + index + 1), listing, busy),
    })),
  ]
}

function makeCompany(random: Random, id: number) {
  const country = random.pick(id in named ? countries.slice(0, 1) : countries)
  const own = named[id]?.own ?? say(random, country, 'own')
  // Of its country, in which its own name is the only one.
  const words: Words = { ...country, own: [own] }
  return {
    id,
    identifier: String(10_000_000 + id * 7_919),
    name: named[id]?.company ?? say(random, words, 'company'),
    jurisdiction: say(random, words, 'jurisdiction'),
    words,
  }
}

function companyRow({ id, jurisdiction, identifier, name }: Company): Row {
  return { id, jurisdiction, identifier, name }
}

/** A record to be made: its company, its id, and its place among the records of the company. */
interface Place {
  readonly random: Random
  readonly company: Company
  readonly id: number
  readonly index: number
  readonly length: number
  /** The companies that have it: some records are in the listings of two. */
  readonly holders: readonly Company[]
  /** The value of each attribute after the records before. */
  readonly current: Map<string, string>
  readonly say: (name: string) => string
}

interface Listing {
  /** How many records a company has at most, and how many the showcase has: several pages. */
  readonly most: number
  readonly ofShowcase: number
  readonly ofLongHistory?: number
  readonly isShared?: true
  readonly make: (place: Place) => Row
}

function* recordRows(
  random: Random,
  { most, ofShowcase, ofLongHistory, isShared, make }: Listing,
  companies: readonly Company[],
): Generator<Row> {
  const lengths = new Map([
    [showcaseId, ofShowcase],
    [longHistoryId, ofLongHistory],
  ])
  let id = 0
  for (const company of companies) {
    const length = lengths.get(company.id) ?? random.integer(0, most)
    const current = new Map<string, string>()
    const sayHere = (name: string) => say(random, company.words, name)
    for (let index = 0; index < length; index++) {
      id += 1
      const second = isShared && random.oneIn(12) ? random.pick(companies) : company
      const holders = [...new Set([company, second])]
      const record = make({ random, company, id, index, length, holders, current, say: sayHere })
      for (const holder of holders) yield { company_id: holder.id, id, ...record }
    }
  }
}

const listings: Readonly<Record<string, Listing>> = {
  rights: { most: 6, ofShowcase: 230, isShared: true, make: makeRight },
  employees: { most: 12, ofShowcase: 140, make: makeEmployee },
  jobs: { most: 3, ofShowcase: 24, make: makeJob },
  pos_terminals: { most: 4, ofShowcase: 36, make: makeTerminal },
  events: { most: 8, ofShowcase: 120, ofLongHistory: longHistoryLength, make: makeEvent },
}

function makeRight({ random, company, id, holders, say }: Place): Row {
  const status = say('right_status')
  const application = moment(random)
  const registration = laterMoment(random, application, 700)
  return {
    jurisdiction: company.jurisdiction,
    name: say('right'),
    object_type: say('right_kind'),
    status,
    registration_number: `${company.jurisdiction}${4_000_000 + id}`,
    registration_date: status === 'pending' ? null : isoDay(registration),
    application_date: isoDay(application),
    holders: holders.map(({ name }) => name),
    ...stamps(random, registration),
  }
}

function makeEmployee({ random, company, id, say }: Place): Row {
  const start = moment(random)
  return {
    identifier: String(770_000_000_000 + id * 104_729),
    name: say('person'),
    position: say('position'),
    employer_identifier: company.identifier,
    employer_name: company.name,
    employer_jurisdiction: company.jurisdiction,
    start_date: isoDay(start),
    end_date: random.oneIn(3) ? isoDay(laterMoment(random, start, 2_000)) : null,
    ...stamps(random, start),
  }
}

function makeJob({ random, say }: Place): Row {
  const hasSalary = !random.oneIn(4)
  const lowest = random.integer(18, 90) * 1_000
  return {
    title: say('job'),
    description: say('task'),
    salary_from: hasSalary ? lowest : null,
    salary_to: hasSalary ? lowest + random.integer(0, 20) * 1_000 : null,
    currency: hasSalary ? say('currency') : null,
    location: say('city'),
    ...stamps(random, moment(random)),
  }
}

function makeTerminal({ company, id, say }: Place): Row {
  return {
    terminal_id: `T-${String(id).padStart(6, '0')}`,
    location: say('address'),
    bank_name: say('bank'),
    status: say('terminal_status'),
    jurisdiction: company.jurisdiction,
  }
}

/** A change of the company, which continues from the one before, in its share of the period. */
function makeEvent({ random, company, index, length, current, say }: Place): Row {
  const attr = say('attr')
  const before = current.get(attr) ?? say(attr)
  let after = before
  while (after === before) after = say(attr)
  current.set(attr, after)
  const share = (end - beginning) / length
  const time = beginning + index * share + random.integer(0, Math.floor(share) - 1)
  const { jurisdiction, identifier } = company
  return { jurisdiction, date: isoSecond(time), attr, before, after, identifier }
}

/** When the register created a record, and when it last changed it. */
function stamps(random: Random, since: number): Row {
  const created = laterMoment(random, since, 20)
  return {
    created_at: new Date(created).toISOString(),
    updated_at: new Date(laterMoment(random, created, 900)).toISOString(),
  }
}
