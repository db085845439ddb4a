// The list of what is withheld: an append-only list, kept apart from the store, so that a restored
// backup of the store does not bring back withheld data unnoticed.
//
// The first line has a random salt. Each other line is an order, lifts one, adopts the list, or
// tells what an import has found, and names the registry that has written it: the list belongs to
// the last of these. What identifies people is in it as salted hashes only (`createHasher`).

import { hash, randomBytes } from 'node:crypto'
import { OperatorError } from '../../../config/operator-error.ts'
import type { Awaitable } from '../../awaitable.ts'
import type { RegistryDatabase } from '../../sql/database.ts'
import type { RowReader } from '../../sql/dialect.ts'
import type { Entry, List } from './entries.ts'

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

const format = 3

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
