// The list of what is withheld: an append-only list, kept apart from the store, so that a restored
// backup of the store does not bring back withheld data unnoticed.
//
// The first line has a random salt. Each other line is an order, lifts one, adopts the list, or
// tells what an import has found, and names the registry that has written it: the list belongs to
// the last of these. What identifies people is in it as salted hashes only (`createHasher`).

import { hash, randomBytes } from 'node:crypto'
import { OperatorError } from '../../../config/operator-error.ts'
import type { Awaitable } from '../../awaitable.ts'
import type { CompanyRow } from '../../listing/tables.ts'
import { assignedIdMin } from '../../sql/assigned-ids.ts'
import type { RegistryDatabase } from '../../sql/database.ts'
import type { RowReader } from '../../sql/dialect.ts'

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

/** Why something is withheld, or no longer withheld. */
export interface Reason {
  readonly reason: string
  /** Who asked for it. */
  readonly by: string
  /** YYYY-MM-DD. */
  readonly day: string
}

interface Line extends Reason {
  readonly number: number
  /** The id of the store that has written it. */
  readonly registry: string
}

export interface Order extends Line {
  readonly kind: OrderKind
  readonly subject: Subject
  readonly found: Found
}

/** Ends an order. */
export interface Lift extends Line {
  readonly lifts: number
}

/** What orders have found, by their numbers. */
type FoundByOrders = readonly { readonly order: number; readonly found: Found }[]

/** Hands the list over to another registry. */
export interface Adoption extends Line {
  /** What earlier orders have found there. */
  readonly adopts: FoundByOrders
}

/** Tells what an import has found of earlier orders. */
export interface Finding extends Line {
  readonly finds: FoundByOrders
}

export type Entry = Order | Lift | Adoption | Finding

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

export interface ListPlace {
  /** For messages. */
  readonly name: string
  /** The options of a command line that name the store and the list. */
  readonly options: string
  /** Whether the list may be that of another registry, which the store is about to adopt. */
  readonly isToAdopt?: boolean
  /** Whether the list may be missing, as for a copy of the store from which nothing is shown. */
  readonly isOptional?: boolean
  /** The whole text; undefined if there is no list. An unfinished last line is left out. */
  read(db: RowReader): Awaitable<string | undefined>
  /**
   * Adds lines: durably, or in the transaction of `db`.
   *
   * @returns a function that removes them again, for a failed transaction, where that is safe.
   */
  append(db: RegistryDatabase, lines: string): Awaitable<() => void>
}

/** The place of no list: nothing is added to it. */
export const noList: ListPlace = {
  name: 'no list',
  options: '',
  read: () => undefined,
  append: () => () => undefined,
}

const format = 2

/** The state of a store without a list, and of a list without entries. */
export const noState = ''

/** The text of a new list. */
export function newList(): string {
  return `${JSON.stringify({ format, salt: randomBytes(16).toString('hex') })}\n`
}

export const lineOf = (entry: Entry): string => `${JSON.stringify(entry)}\n`

/**
 * Parses a list.
 *
 * @param name the name of its place.
 * @throws OperatorError that names the line that is damaged.
 */
export function parseList(text: string, name: string): List {
  const lines = text.split('\n').slice(0, -1)
  const values = lines.map((line, at) => parseLine(line, at, name))
  const [head, ...entries] = values as [{ format?: number; salt?: string }?, ...Entry[]]
  if (head?.format !== format || typeof head.salt !== 'string') throw damaged(name, 1)
  const states = [noState]
  for (const [at, entry] of entries.entries()) {
    const isWhole = entry.number === at + 1 && typeof entry.registry === 'string'
    if (!isWhole) throw damaged(name, at + 2)
    states.push(nextState(states.at(-1) ?? noState, lines[at + 1] ?? ''))
  }
  return { salt: head.salt, registry: entries.at(-1)?.registry, entries, states }
}

function parseLine(line: string, at: number, name: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw damaged(name, at + 1)
  }
}

/** The state of a list to which a line was added. */
export function nextState(state: string, line: string): string {
  const [number = '0'] = state.split(' ')
  const chained = hash('sha256', `${state}\n${line.trimEnd()}`, 'hex').slice(0, 24)
  return `${Number(number) + 1} ${chained}`
}

function damaged(name: string, line: number): OperatorError {
  return new OperatorError(
    `${name}: line ${line} of the list of what is withheld is damaged; restore the list from its ` +
      'own backup',
  )
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
  const [ids, keys] = [new Set(known.ids), new Set(known.keys)]
  const hashes = new Set(known.phrases.map(({ hash }) => hash))
  const companies = new Set(known.companies.map(({ id, name }) => name ?? id))
  const news = {
    ids: found.ids.filter((id) => !ids.has(id)),
    keys: found.keys.filter((key) => !keys.has(key)),
    companies: found.companies.filter(({ id, name }) => !companies.has(name ?? id)),
    phrases: found.phrases.filter(({ hash }) => !hashes.has(hash)),
  }
  return Object.values(news).some(({ length }) => length > 0) ? news : undefined
}

/** Hashes texts of a kind, such as keys of a resource. */
export type Hasher = (kind: string, ...texts: readonly string[]) => string

/** 132 bits of a SHA-256 in base64. */
const hashLength = 22

export function createHasher(salt: string): Hasher {
  return (...texts) =>
    hash('sha256', JSON.stringify([salt, ...texts]), 'base64url').slice(0, hashLength)
}

/** The hash of a company's register number; null if it has none. */
export function hashCompany(
  hasher: Hasher,
  { jurisdiction, identifier }: Pick<CompanyRow, 'jurisdiction' | 'identifier'>,
): string | null {
  const isNamed = jurisdiction !== null && identifier !== null
  return isNamed ? hasher('company', jurisdiction, identifier) : null
}

/** The hashes of the present and past names of companies, by ids; only of those that have one. */
export function hashNames(
  hasher: Hasher,
  names: readonly CompanyRow[],
): ReadonlyMap<number, readonly string[]> {
  const hashes = new Map<number, Set<string>>()
  for (const named of names) {
    const hash = hashCompany(hasher, named)
    if (hash === null) continue
    hashes.set(named.id, (hashes.get(named.id) ?? new Set()).add(hash))
  }
  return new Map([...hashes].map(([id, some]) => [id, [...some]]))
}

/**
 * The ids of listed companies, without assigned ones that others have here: a restore may have left
 * the branch in which they were assigned.
 *
 * @param names as of `hashNames`.
 */
export function idsHere(
  companies: Found['companies'],
  names: ReadonlyMap<number, readonly string[]>,
): number[] {
  return [...Map.groupBy(companies, ({ id }) => id)]
    .filter(([id, some]) => {
      const own = id < assignedIdMin ? undefined : names.get(id)
      const isListed = (name: string | null) => name === null || own?.includes(name) === true
      return own === undefined || some.some(({ name }) => isListed(name))
    })
    .map(([id]) => id)
}
