// Orders on the people and companies of a world, and which of its words must be nowhere then.

import type { Random } from '../src/demo/random.ts'
import type { Person, World } from './canary-world.ts'

/** Whom an order is on, by places in the world. */
type Subject =
  | { readonly person: number; readonly by: 'id' | 'field' }
  | { readonly company: number; readonly isText: boolean }

export interface Order {
  readonly number: number
  readonly subject: Subject
  isLifted: boolean
}

/** An order to be given. */
export interface Wish {
  readonly subject: Subject
  /** As arguments of `dossier withhold`. */
  readonly words: readonly string[]
}

/**
 * Picks somebody or something to withhold; undefined if there is nobody.
 *
 * @param idOf returns the id of a person's record, if one is shown.
 */
export async function pickOrder(
  { companies, persons }: World,
  orders: readonly Order[],
  random: Random,
  idOf: (person: Person) => Promise<number | undefined>,
): Promise<Wish | undefined> {
  const kind = random.pick(['mask', 'erase'])
  if (random.oneIn(4)) {
    const at = random.integer(0, companies.length - 1)
    const { identifier = '', text } = companies[at] ?? {}
    const words = ['company', 'GB', identifier]
    return random.oneIn(3) || text === undefined
      ? { subject: { company: at, isText: false }, words: ['erase', ...words] }
      : { subject: { company: at, isText: true }, words: [kind, ...words, '--text', text.text] }
  }
  const known = [...persons.entries()].filter(([, { had }]) => had.size > 0)
  // More often those of lifted orders, which the store still knows in part.
  const lifted = new Set(orders.map(({ subject, isLifted }) => isLifted && personOf(subject)))
  const again = known.filter(([at]) => lifted.has(at))
  const some = again.length > 0 && random.oneIn(2) ? again : known
  if (some.length === 0) return undefined
  const [at, person] = random.pick(some)
  const by = random.pick(waysOf(person))
  const value = by === 'id' ? await idOf(person) : by
  if (value === undefined) return undefined
  const subject = { person: at, by: by === 'id' ? 'id' : 'field' } as const
  return { subject, words: [kind, person.resource, String(value)] }
}

/** What finds all rows of a person: its id, or values that all of them have. */
function waysOf({ resource, identity, style, number, names }: Person): string[] {
  const id = Object.keys(identity).length > 0 ? ['id'] : []
  const [{ text }] = names
  const isNumbered = resource === 'employees' && style !== 'varied'
  const field = { employees: 'name', rights: 'holders', events: 'after' }[resource]
  return [
    ...id,
    ...(isNumbered ? [`identifier=${number}`] : []),
    ...(style === 'renamed' ? [] : [`${field}=${text}`, `${field}=${text.normalize('NFD')}`]),
  ]
}

const personOf = (subject: Subject) => ('person' in subject ? subject.person : undefined)

/** Ends an order, and with it what it knew. */
export function lift({ persons }: World, order: Order): void {
  order.isLifted = true
  const { subject } = order
  if ('company' in subject) {
    // An order on a person that came meanwhile did not find it here.
    if (!subject.isText) for (const { had } of persons) had.delete(subject.company)
    return
  }
  const person = persons[subject.person]
  // The records stay as they are until they are imported again, so no other order finds them.
  if (person !== undefined && subject.by === 'field') person.isForgotten = true
}

/**
 * Forgets the past: who has had different names is no longer known by all of them, nor is whom no
 * version shows, unless an order knows them. Where somebody without an id or key is no longer, what
 * was recorded is that of a stranger.
 */
export async function forgetPast(
  { persons }: World,
  orders: readonly Order[],
  isShown: (person: Person) => Promise<boolean>,
): Promise<void> {
  const known = new Set(orders.map(({ subject, isLifted }) => !isLifted && personOf(subject)))
  for (const [at, person] of persons.entries()) {
    const isSteady = person.style === 'steady'
    if (!isSteady || !(known.has(at) || (await isShown(person)))) person.isForgotten = true
    if (known.has(at) || Object.keys(person.identity).length > 0) continue
    const { had, mentioned, companies } = person
    for (const n of had.difference(new Set(companies))) {
      had.delete(n)
      mentioned.add(n)
    }
  }
}

/** The words that must be nowhere. */
export function wordsGone(world: World, orders: readonly Order[]): string[] {
  const inForce = orders.filter(({ isLifted }) => !isLifted).map(({ subject }) => subject)
  const isErased = (n: number) =>
    inForce.some((one) => 'company' in one && one.company === n && !one.isText)
  const isTextGone = (n: number) => inForce.some((one) => 'company' in one && one.company === n)
  const isGone = (person: Person, at: number) => {
    const { had, mentioned, isAttribute, isForgotten } = person
    if (isForgotten) return false
    const isOrdered = inForce.some((one) => personOf(one) === at)
    if (isOrdered && [...mentioned].every((n) => had.has(n) || isErased(n))) return true
    const places = [...had, ...mentioned, ...person.companies]
    return had.size > 0 && !isAttribute && places.every(isErased)
  }
  return [
    ...world.persons.flatMap((person, at) => (isGone(person, at) ? wordsOf(person) : [])),
    // A key is known by its record's id, even if nobody knows whom it names.
    ...inForce.flatMap((one) =>
      'person' in one && one.by === 'id' ? (world.persons[one.person]?.word ?? []) : [],
    ),
    ...world.companies.flatMap(({ word, text }, n) => [
      ...(isErased(n) ? [word] : []),
      ...(isTextGone(n) ? text.words : []),
    ]),
  ]
}

function wordsOf({ called, isNumbered, number }: Person): string[] {
  return [...[...called].flatMap(({ words }) => words), ...(isNumbered ? [number] : [])]
}
