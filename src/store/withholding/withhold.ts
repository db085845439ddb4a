// The course of a withholding: one transaction, which is committed once the list has the order. A
// kill between the two leaves a store behind its list, which the next command that writes brings up
// to it.

import { OperatorError, UnknownOutcomeError } from '../../config/operator-error.ts'
import type { ImportConnection } from '../sql/database.ts'
import { applyOrder, type Course } from './apply-order.ts'
import { type AskedSubject, nothingThere } from './asked-subject.ts'
import { agree, follow, type WithholdingPlace } from './follow.ts'
import { type Agreement, noteState, nothingToAdopt } from './list/agreement.ts'
import {
  type Adoption,
  type Finding,
  type Found,
  isInForce,
  joinFound,
  type Lift,
  type Order,
  type OrderKind,
  ordersOf,
  type Reason,
} from './list/entries.ts'
import { createHasher } from './list/hashes.ts'
import { lineOf, type ListPlace, nextState, noState } from './list/list.ts'
import { type FindingImport, wantedLater, wantedOf } from './locate.ts'
import type { AllTouched } from './touched.ts'

/** The reason in an entry of the list, and how the course of the work is watched. */
export interface EntryRequest extends Reason, Course {
  readonly isDryRun?: boolean
}

export interface WithholdRequest extends EntryRequest {
  readonly kind: OrderKind
  readonly subject: AskedSubject
}

export interface LiftRequest extends EntryRequest {
  /** The number of the order. */
  readonly lifts: number
}

/** What was withheld, or would be. */
export interface Withheld {
  /** The number of the entry; undefined in a dry run. */
  readonly number: number | undefined
  /** The last version in which it was done; undefined in a dry run, or if it touches nothing. */
  readonly version: number | undefined
  readonly touched: AllTouched
  /** How many companies have got another name. */
  readonly names: number
  /** How many natural keys it hides. */
  readonly keys: number
}

/**
 * Withholds something, or finds out in a dry run what this would touch.
 *
 * @param db a connection that is used for nothing else, and is discarded if this throws.
 * @throws OperatorError that says what to do, if there is nothing to withhold; nothing is changed.
 */
export function withhold(
  db: ImportConnection,
  place: WithholdingPlace,
  request: WithholdRequest,
): Promise<Withheld> {
  return addEntry(db, place, request, async ({ list }) => {
    const hasher = createHasher(list.salt)
    const wanted = await wantedOf(db, list, request, hasher)
    const context = { db, resources: place.resources, hasher }
    const applied = await applyOrder(context, wanted, request)
    if (applied.version === undefined) {
      const named = await db.tables.statesById([...(wanted.located?.companies ?? [])])
      throw nothingThere(request, named.length > 0)
    }
    const { version, touched, names, found } = applied
    const { kind, subject } = wanted
    const keys = found.keys.length
    return { entry: { kind, subject, found }, done: { version, touched, names, keys } }
  })
}

/**
 * Lifts an order: what it withholds returns with the next import that has it.
 *
 * @throws OperatorError if there is no such order, or it was ended before.
 */
export function lift(
  db: ImportConnection,
  place: WithholdingPlace,
  request: LiftRequest,
): Promise<Withheld> {
  return addEntry(db, place, request, ({ list }) => {
    const { lifts } = request
    const order = ordersOf(list).find(({ number }) => number === lifts)
    if (order === undefined) {
      throw new OperatorError(`there is no order ${lifts}; see: dossier withhold list`)
    }
    if (order.isLifted) {
      throw new OperatorError(`order ${lifts} has already been lifted; see: dossier withhold list`)
    }
    return { entry: { lifts }, done: { version: undefined, touched: [], names: 0, keys: 0 } }
  })
}

/**
 * Adopts the list of another registry, which this one replaces, and withholds what it says; or
 * finds out in a dry run what this would touch.
 *
 * @throws OperatorError if the list is not that of another registry; nothing is changed.
 */
export function adopt(
  db: ImportConnection,
  place: WithholdingPlace,
  request: EntryRequest,
): Promise<Withheld> {
  return addEntry(db, place, request, async (agreed) => {
    const { list, registry, isForeign } = agreed
    if (!isForeign) throw nothingToAdopt(place.list)
    const followed = await follow(db, place, { ...agreed, list: { ...list, registry } }, request)
    const touched = followed.flatMap((one) => [...one.touched.values()])
    const names = followed.reduce((sum, one) => sum + one.names, 0)
    const keys = followed.reduce((sum, { found }) => sum + found.keys.length, 0)
    const done = followed.filter(({ version }) => version !== undefined)
    const adopts = done.map(({ order, found }) => ({ order, found }))
    return { entry: { adopts }, done: { version: done.at(-1)?.version, touched, names, keys } }
  })
}

/**
 * Commits an import that has found withheld people where their orders do not know them: in the same
 * transaction, the orders are followed there, as versions of their own, and an entry of the list
 * tells so.
 *
 * @returns the number of the entry.
 */
export async function commitWithFinds(
  db: ImportConnection,
  place: WithholdingPlace,
  finding: FindingImport,
): Promise<number> {
  const { startedAt } = finding.plan
  const course = { onWait: () => undefined, startedAt }
  const agreed = await agree(db, place, course)
  const { list } = agreed
  const context = { db, resources: place.resources, hasher: createHasher(list.salt) }
  const finds: { order: number; found: Found }[] = []
  for (const order of ordersOf(list).filter(isInForce)) {
    const find = finding.finds.get(order.number)
    if (find === undefined) continue
    const { wanted, news } = await wantedLater(context, order, find, finding)
    const { ids, keys } = (await applyOrder(context, wanted, course)).found
    const here = { ids, keys, companies: [], phrases: [] }
    finds.push({ order: order.number, found: joinFound([news, here]) })
  }
  const reason = `found by the import of version ${finding.version}`
  return commitWith(db, place.list, agreed, { finds, ...foundBy(reason, startedAt) })
}

/** Why Dossier adds an entry by itself. */
const foundBy = (reason: string, startedAt: number): Reason => {
  return { reason, by: 'dossier', day: new Date(startedAt).toISOString().slice(0, 10) }
}

/** What an entry says, besides why. */
type EntryContent =
  | Pick<Order, 'kind' | 'subject' | 'found'>
  | Pick<Lift, 'lifts'>
  | Pick<Adoption, 'adopts'>
  | Pick<Finding, 'finds'>

/** The content of an entry, and what it has done in the store. */
interface NewEntry {
  readonly entry: EntryContent
  readonly done: Omit<Withheld, 'number'>
}

/** Adds an entry to the list, in one transaction with what it does; a dry run changes nothing. */
async function addEntry(
  db: ImportConnection,
  place: WithholdingPlace,
  request: EntryRequest,
  work: (agreed: Agreement) => Promise<NewEntry> | NewEntry,
): Promise<Withheld> {
  await db.begin(request)
  const agreed = await agree(db, place, request)
  const { entry, done } = await work(agreed)
  if (request.isDryRun === true) {
    await db.discard()
    return { ...done, number: undefined, version: undefined }
  }
  const { reason, by, day } = request
  const number = await commitWith(db, place.list, agreed, { ...entry, reason, by, day })
  return { number, ...done }
}

/**
 * Brings a store that is behind its list up to it. If orders find there what they do not know, as
 * in a backup from before an earlier restore, an entry tells so.
 *
 * @returns how many entries were missing.
 */
export async function bringUp(db: ImportConnection, place: WithholdingPlace): Promise<number> {
  const startedAt = Date.now()
  const course = { onWait: () => undefined, startedAt }
  await db.begin(course)
  const { followed, ...agreed } = await agree(db, place, course)
  const finds = followed.flatMap(({ order, news }) => (news ? [{ order, found: news }] : []))
  const why = foundBy('found in a restored store', startedAt)
  if (finds.length === 0) await db.commit()
  else await commitWith(db, place.list, agreed, { finds, ...why })
  return agreed.behind
}

/**
 * Adds an entry to the list, then commits; if that fails, removes the entry again.
 *
 * @returns the number of the entry.
 */
async function commitWith(
  db: ImportConnection,
  place: ListPlace,
  { list, newText, registry }: Agreement,
  entry: EntryContent & Reason,
): Promise<number> {
  const number = list.entries.length + 1
  const line = lineOf({ number, registry, ...entry })
  await noteState(db, nextState(list.states.at(-1) ?? noState, line))
  const takeBack = await place.append(db, newText + line)
  try {
    await db.commit()
  } catch (error) {
    // If the outcome is unknown, the store may have followed the entry.
    if (!(error instanceof UnknownOutcomeError)) takeBack()
    throw error
  }
  return number
}
