// Compares a store with its list of what is withheld: no store opens behind its list (invariant 9),
// without it once it has been used, or with the list of another store.

import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../../config/operator-error.ts'
import { readValue, type RegistryDatabase } from '../../sql/database.ts'
import type { RowReader } from '../../sql/dialect.ts'
import type { List } from './entries.ts'
import { type ListPlace, newList, noState, parseList } from './list.ts'

/** A store's list, which may be ahead of it. */
export interface Agreement {
  readonly list: List
  /** The text of a new list, if there is none yet. */
  readonly newText: string
  /** The number of entries that the store has not followed yet. */
  readonly behind: number
  /** The id of the store. */
  readonly registry: string
  /** Whether the list is that of another registry, which this one may adopt. */
  readonly isForeign: boolean
}

/** The state of the list with which a store agrees. */
export async function readState(db: Pick<RowReader, 'rows'>): Promise<string> {
  return String(await readValue(db, 'select withheld from store'))
}

/** Notes the state of the list with which a store agrees from now on. */
export async function noteState(db: RegistryDatabase, state: string): Promise<void> {
  await db.run('update store set withheld = $1', state)
}

/**
 * Compares a store with its list.
 *
 * @throws OperatorError if the list is missing, damaged, or not that of the store.
 */
export async function compareWithList(db: RowReader, place: ListPlace): Promise<Agreement> {
  type Columns = [registry: string, state: string]
  const [[registry, state] = ['', '']] = await db.rows<Columns>('select id, withheld from store')
  const text = await place.read(db)
  if (text === undefined && state !== noState && place.isOptional !== true) {
    throw new OperatorError(
      `${place.name}, the list of what the store withholds, is missing; restore it from its own ` +
        'backup, or name it with --withheld',
    )
  }
  const newText = text === undefined ? newList() : ''
  const list = parseList(text ?? newText, place.name)
  const isForeign = list.registry !== undefined && list.registry !== registry
  if (isForeign && place.isToAdopt !== true) throw ofAnother(place)
  const at = text === undefined ? 0 : list.states.indexOf(state)
  const behind = list.states.length - 1 - at
  if (at >= 0) return { list, newText, behind, registry, isForeign }
  throw new OperatorError(
    `${place.name} is not the list of what the store withholds, or is an earlier state of it; ` +
      'restore it from its own backup, or name another one with --withheld',
  )
}

/**
 * Compares a list with a store that is about to be created, under an id of its own.
 *
 * @throws OperatorError if the list is that of another registry, or there is none to adopt.
 */
export async function compareWithNew(db: RowReader, place: ListPlace): Promise<void> {
  const text = await place.read(db)
  const isNamed = text !== undefined && parseList(text, place.name).registry !== undefined
  if (place.isToAdopt === true) {
    if (!isNamed) throw nothingToAdopt(place)
  } else if (isNamed) throw ofAnother(place)
}

function ofAnother({ name, options }: ListPlace): OperatorError {
  return new OperatorError(
    `${name} is the list of what another registry withholds; name the list of this one with ` +
      '--withheld or, if this registry replaces that one, run: ' +
      `dossier withhold adopt ${options} --reason TEXT --by NAME`,
  )
}

/** The error of an adoption where the list belongs to no other store. */
export function nothingToAdopt({ name }: ListPlace): OperatorError {
  return new OperatorError(`${name} is not the list of another registry; there is nothing to adopt`)
}

/** How long an order may take to be committed once its list has it, in milliseconds. */
const committingMs = 1_000
const pauseMs = 100

/**
 * Refuses a store that is behind its list, unless an order is just being committed.
 *
 * @param store what an operator calls the store.
 * @throws OperatorError as `compareWithList`, or with the command that brings it up to the list.
 */
export async function refuseBehind(db: RowReader, place: ListPlace, store: string): Promise<void> {
  const until = performance.now() + committingMs
  let { behind } = await compareWithList(db, place)
  while (behind > 0 && performance.now() < until) {
    await sleep(pauseMs)
    behind = (await compareWithList(db, place)).behind
  }
  if (behind === 0) return
  const what = behind === 1 ? 'an entry' : `${behind} entries`
  throw new OperatorError(
    `${store} is behind ${place.name}, the list of what is withheld, by ${what}, as after a ` +
      `restored backup; bring it up to date with: dossier migrate ${place.options}`,
  )
}
