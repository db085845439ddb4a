// The entries of the list of what is withheld: orders, lifts of them, adoptions of the list, and
// what imports have found; and the orders that they make.

import { assignedIdMin } from '../../sql/assigned-ids.ts'

/** `mask` keeps records without their personal fields; `erase` removes them. */
export type OrderKind = 'mask' | 'erase'

/** What is withheld. */
export type Subject =
  | IdSubject
  | ValueSubject
  | { readonly company: number }
  /** A text in what sources say about a company, and in its recorded changes. */
  | { readonly textOf: number }

/** A record. */
export interface IdSubject {
  readonly resource: string
  readonly id: number
}

/** The records with a value in a personal field; the value is hashed. */
export interface ValueSubject {
  readonly resource: string
  readonly field: string
  readonly value: string
}

/** A text of some words in which people appear, hashed. */
export interface PhraseHash {
  readonly words: number
  readonly hash: string
}

/** What was found, as later imports will recognise it. */
export interface Found {
  /** The ids of records of the resource. */
  readonly ids: readonly number[]
  /** Hashes of their natural keys. */
  readonly keys: readonly string[]
  /** The companies that had them, with the hash of their register number; an id may be 0. */
  readonly companies: readonly { readonly id: number; readonly name: string | null }[]
  readonly phrases: readonly PhraseHash[]
}

export const nothingFound: Found = { ids: [], keys: [], companies: [], phrases: [] }

/** Why something is withheld, or no longer withheld. */
export interface Reason {
  readonly reason: string
  /** Who asked for it. */
  readonly by: string
  /** YYYY-MM-DD. */
  readonly day: string
}

/** What orders have found, by their numbers. */
export type FoundByOrders = readonly { readonly order: number; readonly found: Found }[]

interface Ordered {
  readonly kind: OrderKind
  readonly subject: Subject
  readonly found: Found
}

/** What an entry says, besides why. */
export type EntryContent =
  | Ordered
  /** Ends an order. */
  | { readonly lifts: number }
  /** Hands the list over to another registry, and tells what earlier orders have found there. */
  | { readonly adopts: FoundByOrders }
  /** Tells what an import, or a restored backup, has found of earlier orders. */
  | { readonly finds: FoundByOrders }

interface Line extends Reason {
  readonly number: number
  /** The id of the store that has written it. */
  readonly registry: string
}

export type Entry = Line & EntryContent

export interface Order extends Line, Ordered {}

/** What an order has found, or what another entry tells of earlier orders. */
export function foundIn(entry: Entry): FoundByOrders {
  if ('kind' in entry) return [{ order: entry.number, found: entry.found }]
  if ('adopts' in entry) return entry.adopts
  return 'finds' in entry ? entry.finds : []
}

/** A list as read. */
export interface List {
  readonly salt: string
  /** The id of the store to which it belongs; undefined while it has no entries. */
  readonly registry: string | undefined
  /** In the order of their numbers, from 1 on. */
  readonly entries: readonly Entry[]
  /** The state after each number of entries: a chain of hashes, which differs between lists. */
  readonly states: readonly string[]
}

/** An order with all that it has found in the list's registry. */
export interface ListedOrder extends Order {
  /** Whether a later entry lifts it. */
  readonly isLifted: boolean
}

export const isInForce = ({ isLifted }: ListedOrder): boolean => !isLifted

/** The orders of a list, lifted ones included. */
export function ordersOf({ entries, registry }: List): readonly ListedOrder[] {
  const lifted = new Set(entries.flatMap((entry) => ('lifts' in entry ? [entry.lifts] : [])))
  const all = entries.flatMap((entry) =>
    foundIn(entry).map(({ order, found }) => {
      return { order, found: entry.registry === registry ? found : withoutAssigned(found) }
    }),
  )
  const byOrder = Map.groupBy(all, ({ order }) => order)
  return entries
    .filter((entry) => 'kind' in entry)
    .map((order) => ({
      ...order,
      found: joinFound(byOrder.get(order.number)?.map(({ found }) => found) ?? []),
      isLifted: lifted.has(order.number),
    }))
}

/** The orders on records of a resource. */
export const ordersOn = <O extends Order>(orders: readonly O[], resource: string): O[] =>
  orders.filter(({ subject }) => 'resource' in subject && subject.resource === resource)

/** Removes ids that a store has assigned, which may mean something else in another one. */
export function withoutAssigned(found: Found): Found {
  const isGiven = (id: number) => id < assignedIdMin
  return {
    ...found,
    // What has an assigned id has a natural key.
    ids: found.ids.filter((id) => isGiven(id) || found.keys.length === 0),
    companies: found.companies.map(({ id, name }) => {
      return { id: isGiven(id) || name === null ? id : 0, name }
    }),
  }
}

export function joinFound(all: readonly Found[]): Found {
  const [only] = all
  // An order may have found 100,000 records.
  if (only !== undefined && all.length === 1) return only
  return {
    ids: [...new Set(all.flatMap(({ ids }) => ids))],
    keys: [...new Set(all.flatMap(({ keys }) => keys))],
    companies: all.flatMap(({ companies }) => companies),
    phrases: all.flatMap(({ phrases }) => phrases),
  }
}

/** What was found and is not known yet; undefined if all is. */
export function newsIn(found: Found, known: Found): Found | undefined {
  const news = {
    ids: withoutKnown(found.ids, known.ids, (id) => id),
    keys: withoutKnown(found.keys, known.keys, (key) => key),
    companies: withoutKnown(found.companies, known.companies, ({ id, name }) => `${id} ${name}`),
    phrases: withoutKnown(found.phrases, known.phrases, ({ hash }) => hash),
  }
  return Object.values(news).some(({ length }) => length > 0) ? news : undefined
}

/** Each one that is not known, once. */
function withoutKnown<T>(all: readonly T[], known: readonly T[], nameOf: (one: T) => unknown): T[] {
  const byName = new Map(all.map((one) => [nameOf(one), one]))
  for (const one of known) byName.delete(nameOf(one))
  return [...byName.values()]
}
