// A world of companies and people whose names and numbers are canaries, and its extracts.

import type { Random } from '../src/demo/random.ts'
import { makeName, makeWord, type Name, write } from './canary-names.ts'

export interface Company {
  /** The id in its source, if it has one; other companies are known by their numbers alone. */
  readonly id: number | undefined
  readonly identifier: string
  /** A word of its number, of its names, and of its records' keys. */
  readonly word: string
  /** Words in its attributes and events that belong to no record. */
  readonly text: Name
}

export interface Person {
  readonly resource: 'employees' | 'rights' | 'events'
  readonly source: 'a' | 'b'
  /** Its id, its key, or nothing but its content. */
  readonly identity: Readonly<{ id?: number; key?: string }>
  /** A word of its key, and of nothing else. */
  readonly word: string
  /** What tells its rows from others, and nobody withholds. */
  readonly mark: string
  /** What its rows always say: all, not always its number, or not always the same name. */
  readonly style: 'steady' | 'varied' | 'renamed'
  readonly names: readonly [Name, Name]
  readonly number: string
  /** Companies by their places in the world. */
  companies: readonly number[]
  revision: number
  /** Its names so far. */
  readonly called: Set<Name>
  isNumbered: boolean
  /** The companies where it has been, and those of which something was said of it. */
  readonly had: Set<number>
  readonly mentioned: Set<number>
  isAttribute: boolean
  /** Whether the store may have forgotten some of its names. */
  isForgotten: boolean
}

export interface World {
  readonly companies: readonly Company[]
  readonly persons: readonly Person[]
}

export function makeWorld(random: Random): World {
  const [companies, persons] = [random.integer(3, 4), random.integer(3, 6)]
  return {
    companies: Array.from({ length: companies }, (_, n) => makeCompany(random, n)),
    persons: Array.from({ length: persons }, (_, n) => makePerson(random, n)),
  }
}

function makeCompany(random: Random, n: number): Company {
  const word = makeWord(random)
  const identifier = random.pick([`K${n}${word}`, `0${n}-${word}`, `${n}/${word}:1`])
  return { id: n === 0 ? 1 : undefined, identifier, word, text: makeName(random) }
}

function makePerson(random: Random, n: number): Person {
  const resource = random.pick(['employees', 'employees', 'employees', 'rights', 'events'] as const)
  const names: [Name, Name] = [makeName(random, random.oneIn(6)), makeName(random)]
  const word = makeWord(random)
  const key = { key: `${word} ${names[0].words[0]}-${n}` }
  const identity = random.pick([{ id: 100 + n }, key, resource === 'employees' ? {} : key])
  const isNamed = Object.keys(identity).length > 0
  return {
    ...{ resource, names, identity, word, source: random.pick(['a', 'b'] as const), mark: `p${n}` },
    style: isNamed ? random.pick(['steady', 'varied', 'renamed'] as const) : 'steady',
    number: Array.from({ length: 12 }, () => random.integer(1, 9)).join(''),
    ...{ companies: [random.integer(0, 2)], revision: 0, called: new Set(), isNumbered: false },
    ...{ had: new Set(), mentioned: new Set(), isAttribute: false, isForgotten: false },
  }
}

type Row = Record<string, unknown>

/** Rows of a source. */
export interface Extract {
  readonly target: string
  readonly source: string
  readonly rows: readonly Row[]
}

/**
 * Moves and changes people of a source, and returns them among other records.
 *
 * @param leftOut one in how many of them the extract does not have.
 */
export function extractRecords(world: World, random: Random, leftOut = 6): Extract {
  const { companies, persons } = world
  const kinds = ['events', 'jobs', 'pos_terminals', ...persons.map(({ resource }) => resource)]
  const [target, source] = [random.pick(kinds), random.pick(['a', 'b'])]
  const present = persons.filter(
    (one) => one.resource === target && one.source === source && !random.oneIn(leftOut),
  )
  const rows = present.flatMap((person) => {
    changePerson(world, random, person)
    const fields = fieldsOf(person)
    return person.companies.map((n) => ({ ...person.identity, ...ofCompany(world, n), ...fields }))
  })
  const others = [...companies.entries()].slice(random.integer(0, 2)).map(([n, { word }]) => ({
    ...{ key: `${word}/${target}`, ...ofCompany(world, n) },
    ...fieldsOfNobody(target, `${word} ${random.integer(1, 3)}`, () => say(world, random, n)),
  }))
  return { target, source, rows: [...rows, ...others] }
}

function changePerson({ companies }: World, random: Random, person: Person): void {
  const place = () => random.integer(0, companies.length - 1)
  if (random.oneIn(2)) person.revision += 1
  if (random.oneIn(3))
    person.companies = [...new Set(Array.from({ length: random.integer(1, 2) }, place))]
  person.called.add(nameOf(person))
  if (numberOf(person) !== null) person.isNumbered = true
  for (const n of person.companies) person.had.add(n)
  if (person.style === 'steady') person.isForgotten = false
}

const isOdd = ({ revision }: Person) => revision % 2 === 1
const nameOf = (person: Person) => person.names[person.style === 'renamed' && isOdd(person) ? 1 : 0]
const numberOf = (person: Person) =>
  person.resource !== 'employees' || (person.style === 'varied' && isOdd(person))
    ? null
    : person.number

function ofCompany({ companies }: World, n: number): Row {
  const { id, identifier } = companies[n] ?? {}
  return id === undefined
    ? { company_jurisdiction: 'GB', company_identifier: identifier }
    : { company_id: id }
}

function fieldsOf(person: Person): Row {
  const { resource, mark, revision } = person
  const text = `${mark} ${revision}`
  const plain = nameOf(person).text
  const name = revision % 3 === 2 ? plain.normalize('NFD') : plain
  if (resource === 'rights') return { name: text, holders: [name, `Holder ${mark}`] }
  if (resource === 'employees') return { position: text, name, identifier: numberOf(person) }
  return { attr: text, date: '2019-05-05T00:00:00Z', before: null, after: name }
}

function fieldsOfNobody(target: string, text: string, tell: () => string): Row {
  if (target === 'rights') return { name: text, holders: [] }
  if (target === 'jobs') return { title: text }
  if (target === 'employees') return { position: text, name: 'Somebody Else' }
  if (target === 'pos_terminals') return { terminal_id: text }
  return { attr: 'said', date: '2018-01-01T00:00:00Z', before: tell(), after: text }
}

/** Returns what a source says of most companies, people among it. */
export function extractCompanies(world: World, random: Random): Extract {
  const chosen = [...world.companies.entries()].slice(random.integer(0, 2))
  const rows = chosen.map(([n, company]) => rowOfCompany(world, random, company, n))
  return { target: 'companies', source: random.pick(['a', 'b']), rows }
}

function rowOfCompany(world: World, random: Random, company: Company, n: number): Row {
  const { id, identifier, word } = company
  const tell = () => say(world, random, n)
  const row: Row = {
    ...(id === undefined ? {} : { id }),
    ...{ jurisdiction: 'GB', identifier, town: `Town ${random.integer(1, 3)} ${word}` },
    name: random.oneIn(3) ? `${tell()} Ltd` : `${word} Trading ${random.integer(1, 3)}`,
    ...(random.oneIn(2) ? { owner: tell() } : {}),
    // A mark at its end: the names of attributes are stored one after the other.
    ...(random.oneIn(3) ? { [`Share of ${word}?`]: 1 } : {}),
    ...(random.oneIn(2) ? { people: [tell(), { who: tell(), [tell()]: [[tell()]] }] } : {}),
  }
  const somebody = somebodyAt(world, random, n)
  if (somebody?.isNumbered === true && random.oneIn(3)) {
    somebody.mentioned.add(n)
    row['number'] = random.pick([Number(somebody.number), { n: [Number(somebody.number)] }])
  }
  if (somebody !== undefined && random.oneIn(8)) {
    somebody.isAttribute = true
    row[sayOf(random, somebody, n).slice(0, 100)] = 1
  }
  return row
}

/** Somebody of a company, or, now and then, who comes later. */
function somebodyAt({ persons }: World, random: Random, n: number): Person | undefined {
  const known = persons.filter(({ resource, style, had }) => {
    const isToMove = style !== 'renamed' && random.oneIn(30)
    return resource !== 'events' && (had.has(n) || isToMove)
  })
  return known.length > 0 ? random.pick(known) : undefined
}

/** What is said of a company. */
function say(world: World, random: Random, n: number): string {
  const somebody = random.oneIn(4) ? undefined : somebodyAt(world, random, n)
  if (somebody !== undefined) return sayOf(random, somebody, n)
  const { text } = world.companies[n] ?? {}
  return text === undefined ? '' : write(random, text)
}

function sayOf(random: Random, person: Person, n: number): string {
  const { called, names, number, isNumbered, mentioned } = person
  mentioned.add(n)
  if (isNumbered && random.oneIn(4)) return random.pick([`nr ${number}`, number])
  return write(random, called.size > 0 ? random.pick([...called]) : names[0])
}
