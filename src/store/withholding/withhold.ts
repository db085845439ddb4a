// The course of a withholding: in one transaction, which is committed once the list has the order.
// A kill between the two leaves a store that is behind its list, which the next command that writes
// brings up to it.

import { OperatorError, UnknownOutcomeError } from '../../config/operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import type { CompanyName } from '../inspecting.ts'
import { drawLineage } from '../sql/import-log.ts'
import { numberSegments } from '../listing/write-listings.ts'
import type { LockWait, WorkWatch } from '../work-watch.ts'
import { type ImportConnection, readValue } from '../sql/database.ts'
import { type Agreement, compareWithList, nothingToAdopt } from './agreement.ts'
import { type Applied, applyOrder } from './apply.ts'
import { hideKeys } from './hide-keys.ts'
import { logWithholding } from './log-withholding.ts'
import {
  createHasher,
  type Entry,
  lineOf,
  type List,
  type ListPlace,
  newList,
  nextState,
  noState,
  type Order,
  type OrderKind,
  ordersOf,
  parseList,
  type Reason,
  type Subject,
} from './list.ts'
import { locate } from './locate.ts'
import type { Located, Touched, Wanted, Withholding } from './work.ts'

/** What to withhold, as an operator names it. */
export type AskedSubject =
  | { readonly resource: string; readonly id: number }
  | { readonly resource: string; readonly field: string; readonly value: string }
  | { readonly company: CompanyName; readonly text?: string | undefined }

export interface WithholdRequest extends Reason, WorkWatch {
  readonly kind: OrderKind
  readonly subject: AskedSubject
  readonly isDryRun: boolean
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

export interface LiftRequest extends Reason, WorkWatch {
  /** The number of the order. */
  readonly lifts: number
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

export interface AdoptRequest extends Reason, WorkWatch {
  readonly isDryRun: boolean
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

/** What was withheld, or would be. */
export interface Withheld {
  /** The number of the entry; undefined in a dry run. */
  readonly number: number | undefined
  /** The last version in which it was done; undefined in a dry run, or if it touches nothing. */
  readonly version: number | undefined
  readonly touched: readonly Touched[]
  /** How many companies have got another name. */
  readonly names: number
}

/** Where things are withheld, and with which list. */
export interface WithholdingPlace {
  readonly list: ListPlace
  readonly resources: readonly Resource[]
}

/**
 * Withholds something, or finds out in a dry run what that would touch.
 *
 * @param db a connection that is used for nothing else, and is closed afterwards.
 * @throws OperatorError that says what to do, if there is nothing to withhold; nothing is changed.
 */
export async function withhold(
  db: ImportConnection,
  place: WithholdingPlace,
  request: WithholdRequest,
): Promise<Withheld> {
  return discardUnlessDone(db, async () => {
    await db.begin(request)
    const { list, text, registry } = await agree(db, place, request)
    const hasher = createHasher(list.salt)
    const wanted = await wantedOf(db, request, hasher)
    const { version, applied } = await apply(db, place, list, wanted, request)
    if (isNothing(applied)) throw nothingThere(request)
    const { touched, names } = applied
    if (request.isDryRun) {
      await db.discard()
      return { number: undefined, version: undefined, touched, names }
    }
    const number = list.entries.length + 1
    const { kind, reason, by, day } = request
    const { subject } = wanted
    const order = { number, registry, kind, subject, reason, by, day, found: applied.found }
    await commitWith(db, place.list, { list, text, entry: order })
    return { number, version, touched, names }
  })
}

/**
 * Ends an order: what it withholds comes back with the next import that has it.
 *
 * @throws OperatorError if there is no such order, or it was ended before.
 */
export async function lift(
  db: ImportConnection,
  place: WithholdingPlace,
  request: LiftRequest,
): Promise<void> {
  await discardUnlessDone(db, async () => {
    await db.begin(request)
    const { list, text, registry } = await agree(db, place, request)
    const { lifts, reason, by, day } = request
    const { inForce, lifted } = ordersOf(list)
    if (lifted.some(({ number }) => number === lifts)) {
      throw new OperatorError(`order ${lifts} was lifted before; see: dossier withhold list`)
    }
    if (!inForce.some(({ number }) => number === lifts)) {
      throw new OperatorError(`there is no order ${lifts}; see: dossier withhold list`)
    }
    const number = list.entries.length + 1
    const entry = { number, registry, lifts, reason, by, day }
    await commitWith(db, place.list, { list, text, entry })
  })
}

/**
 * Makes the list of another registry that of this one, which takes its place, and withholds what it
 * says; or finds out in a dry run what that would touch.
 *
 * @throws OperatorError if the list is not that of another registry; nothing is changed.
 */
export async function adopt(
  db: ImportConnection,
  place: WithholdingPlace,
  request: AdoptRequest,
): Promise<Withheld> {
  return discardUnlessDone(db, async () => {
    await db.begin(request)
    const agreement = await compareWithList(db, place.list)
    const { list, registry, isForeign } = agreement
    if (list === undefined || !isForeign) throw nothingToAdopt(place.list)
    const own = { ...list, registry }
    const followed = await follow(db, place, { ...agreement, list: own }, request)
    const touched = followed.flatMap(({ applied }) => applied.touched)
    const names = followed.reduce((sum, { applied }) => sum + applied.names, 0)
    if (request.isDryRun) {
      await db.discard()
      return { number: undefined, version: undefined, touched, names }
    }
    const number = list.entries.length + 1
    const { reason, by, day } = request
    const done = followed.filter(({ applied }) => !isNothing(applied))
    const adopts = done.map(({ order, applied }) => ({ order, found: applied.found }))
    const entry = { number, registry, adopts, reason, by, day }
    await commitWith(db, place.list, { list, text: '', entry })
    return { number, version: done.at(-1)?.version, touched, names }
  })
}

/**
 * Brings a store that is behind its list up to it.
 *
 * @returns the number of entries that were missing.
 */
export async function bringUp(
  openConnection: () => Promise<ImportConnection> | ImportConnection,
  place: WithholdingPlace,
  wait: LockWait,
): Promise<number> {
  const db = await openConnection()
  return discardUnlessDone(db, async () => {
    await db.begin(wait)
    const { behind } = await agree(db, place, { ...wait, startedAt: Date.now() })
    if (behind === 0) await db.discard()
    else {
      await db.commit()
      await db.settle()
    }
    return behind
  })
}

async function discardUnlessDone<T>(db: ImportConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await db.discard()
    throw error
  }
}

/** A list, as it is or new, with which the store agrees now. */
interface Agreed extends Agreement {
  readonly list: List
  /** The text of a new list. */
  readonly text: string
}

interface Course extends WorkWatch {
  readonly startedAt: number
}

/** Follows the entries of the list that the store has not followed yet. */
async function agree(
  db: ImportConnection,
  place: WithholdingPlace,
  course: Course,
): Promise<Agreed> {
  const agreement = await compareWithList(db, place.list)
  const { list, behind } = agreement
  if (list === undefined) {
    const text = newList()
    return { ...agreement, list: parseList(text, place.list.name), text }
  }
  if (behind > 0) {
    await follow(db, place, { ...agreement, list }, course)
    await noteState(db, list.states.at(-1) ?? noState)
  }
  return { ...agreement, list, text: '' }
}

/** An order that a store has followed. */
interface Followed {
  readonly order: number
  readonly version: number
  readonly applied: Applied
}

/** Does what the entries say that the store has not followed yet. */
async function follow(
  db: ImportConnection,
  place: WithholdingPlace,
  { list, behind, registry }: Agreement & { readonly list: List },
  course: Course,
): Promise<Followed[]> {
  const { inForce, lifted } = ordersOf(list)
  const isMissing = ({ number }: Order) => number > list.entries.length - behind
  const foreign = [...inForce, ...lifted].filter((order) => order.registry !== registry)
  const hasher = createHasher(list.salt)
  const located = await locate(db, foreign.filter(isMissing), hasher)
  const followed: Followed[] = []
  for (const order of inForce.filter(isMissing)) {
    const wanted = { ...order, located: located.get(order.number) }
    followed.push({ order: order.number, ...(await apply(db, place, list, wanted, course)) })
  }
  for (const order of lifted.filter(isMissing)) {
    await keepKeys(db, order, located.get(order.number), hasher)
  }
  return followed
}

/** A lifted order does nothing, but imports look for the hashes of its natural keys. */
async function keepKeys(
  { tables }: ImportConnection,
  { subject, found }: Order,
  located: Located | undefined,
  hasher: Withholding['hasher'],
): Promise<void> {
  if (!('resource' in subject)) return
  await hideKeys({ tables, hasher }, subject.resource, located?.ids ?? found.ids)
}

async function wantedOf(
  db: ImportConnection,
  { kind, subject }: WithholdRequest,
  hasher: Withholding['hasher'],
): Promise<Wanted> {
  if ('id' in subject) return { kind, subject }
  if ('field' in subject) {
    const { resource, field, value } = subject
    const hashed: Subject = { resource, field, value: hasher('value', resource, field, value) }
    return { kind, subject: hashed, value }
  }
  const id = await companyIdOf(db, subject.company)
  return subject.text === undefined
    ? { kind, subject: { company: id } }
    : { kind, subject: { textOf: id }, value: subject.text }
}

/** The id of a company, now or in the past; 0 if there is none. */
async function companyIdOf({ tables }: ImportConnection, company: CompanyName): Promise<number> {
  if (typeof company === 'number') return company
  const [found] = await tables.companiesByName([company])
  if (found !== undefined) return found.id
  const [past] = await tables.forgottenByName([company])
  return past?.companyId ?? 0
}

/** Applies an order as a version of its own, if it changes anything. */
async function apply(
  db: ImportConnection,
  { resources }: WithholdingPlace,
  list: List,
  wanted: Wanted,
  { startedAt, signal, onStep }: Course,
): Promise<{ readonly version: number; readonly applied: Applied }> {
  const numbers = await numberSegments(db.tables)
  const lineage = drawLineage()
  const applied = await applyOrder(
    {
      ...{ db, tables: db.tables, numbers, lineage, resources, hasher: createHasher(list.salt) },
      onStep(step, done) {
        signal?.throwIfAborted()
        onStep?.(step, done)
      },
    },
    wanted,
  )
  await numbers.note()
  const last = Number(await readValue(db, 'select coalesce(max(version), 0) from imports'))
  if (isNothing(applied) || last === 0) return { version: last, applied }
  const version = last + 1
  await logWithholding(db, { version, wanted, applied, startedAt, lineage })
  return { version, applied }
}

function isNothing({ touched, found }: Applied): boolean {
  return touched.length === 0 && found.ids.length === 0 && found.companies.length === 0
}

interface Ending {
  readonly list: List
  readonly text: string
  readonly entry: Entry
}

/** Adds an entry to the list, then commits; a failed commit takes it back. */
async function commitWith(
  db: ImportConnection,
  place: ListPlace,
  { list, text, entry }: Ending,
): Promise<void> {
  const line = lineOf(entry)
  await noteState(db, nextState(list.states.at(-1) ?? noState, line))
  const takeBack = await place.append(db, text + line)
  try {
    await db.commit()
  } catch (error) {
    // Else the store may have followed it.
    if (!(error instanceof UnknownOutcomeError)) takeBack()
    throw error
  }
  await db.settle()
}

async function noteState(db: ImportConnection, state: string): Promise<void> {
  await db.run('update store set withheld = $state', { state })
}

const lacks = (text: string | undefined) =>
  text === undefined ? 'is not in the registry' : 'has no such text of three letters or more'

function nothingThere({ subject }: WithholdRequest): OperatorError {
  const what =
    'id' in subject
      ? `${subject.resource} has no record ${subject.id}`
      : 'field' in subject
        ? `no record of ${subject.resource} has this ${subject.field}`
        : `company ${[subject.company].flat().join(' ')} ${lacks(subject.text)}`
  return new OperatorError(`${what}, now or in a past version; nothing was withheld`)
}
