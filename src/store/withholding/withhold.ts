// The course of a withholding: one transaction, which is committed once the list has its entry. A
// kill between the two leaves a store behind its list, which the next command that writes brings up
// to it.
//
// An order is carried out in three cases, each of which knows where to look for what it means: an
// operator gives it (`wantedOf`), a store is behind the list (`locate`), or an import tells of more
// (`wantedLater`). What it finds that the list does not know is in an entry.

import { OperatorError, UnknownOutcomeError } from '../../config/operator-error.ts'
import type { ImportConnection } from '../sql/database.ts'
import { type Applied, applyOrder, type Course, type Registry } from './apply-order.ts'
import { type AskedSubject, nothingThere, wantedOf } from './asked-subject.ts'
import type { FindingImport } from './finds.ts'
import {
  agree,
  follow,
  type Followed,
  followedBy,
  registryOf,
  type WithholdingPlace,
} from './follow.ts'
import { type Agreement, noteState, nothingToAdopt } from './list/agreement.ts'
import {
  type EntryContent,
  type FoundByOrders,
  isInForce,
  type OrderKind,
  ordersOf,
  type Reason,
} from './list/entries.ts'
import { lineOf, type ListPlace, nextState, noState } from './list/list.ts'
import { wantedLater } from './locate.ts'

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

/** What was withheld, or would be; in the last version in which it was done. */
export interface Withheld extends Omit<Applied, 'found'> {
  /** The number of the entry; undefined in a dry run. */
  readonly number: number | undefined
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
  return addEntry(db, place, request, async ({ list }, registry) => {
    const wanted = await wantedOf(registry, list, request)
    const { found, ...done } = await applyOrder(registry, wanted, request)
    if (done.version === undefined) {
      const named = await db.tables.statesById([...wanted.companies])
      throw nothingThere(request, named.length > 0)
    }
    const { kind, subject } = wanted
    return { entry: { kind, subject, found }, done: { ...done, keys: found.keys.length } }
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
    const nothing = { version: undefined, touched: [], names: 0, companies: 0, keys: 0 }
    return { entry: { lifts }, done: nothing }
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
  return addEntry(db, place, request, async (agreed, registry) => {
    if (!agreed.isForeign) throw nothingToAdopt(place.list)
    const list = { ...agreed.list, registry: agreed.registry }
    const followed = await follow(registry, { ...agreed, list }, request)
    const touched = followed.flatMap((one) => [...one.touched.values()])
    const names = followed.reduce((sum, one) => sum + one.names, 0)
    const companies = followed.reduce((sum, one) => sum + one.companies, 0)
    const keys = followed.reduce((sum, { found }) => sum + found.keys.length, 0)
    const done = followed.filter(({ version }) => version !== undefined)
    const adopts = done.map(({ order, found }) => ({ order, found }))
    const version = done.at(-1)?.version
    return { entry: { adopts }, done: { version, touched, names, companies, keys } }
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
): Promise<number | undefined> {
  const { startedAt } = finding.plan
  const course = { onWait: () => undefined, startedAt }
  const agreed = await agree(db, place, course)
  const registry = registryOf(db, place, agreed)
  const followed: Followed[] = []
  for (const order of ordersOf(agreed.list).filter(isInForce)) {
    const finds = finding.finds.get(order.number)
    if (finds === undefined) continue
    const { wanted, told } = await wantedLater(registry, order, finds, finding)
    const applied = await applyOrder(registry, wanted, course)
    followed.push(followedBy(order, applied, told))
  }
  const reason = `found by the import of version ${finding.version}`
  return commitTelling(db, place.list, agreed, followed, { reason, startedAt })
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
  const agreed = await agree(db, place, course)
  const reason = 'found in a restored store'
  await commitTelling(db, place.list, agreed, agreed.followed, { reason, startedAt })
  return agreed.behind
}

/** Commits, with an entry if orders have found more than the list knows; returns its number. */
async function commitTelling(
  db: ImportConnection,
  place: ListPlace,
  agreed: Agreement,
  followed: readonly Followed[],
  { reason, startedAt }: { readonly reason: string; readonly startedAt: number },
): Promise<number | undefined> {
  const finds = newsOf(followed)
  const day = new Date(startedAt).toISOString().slice(0, 10)
  if (finds.length > 0) return commitWith(db, place, agreed, { finds, reason, by: 'dossier', day })
  await db.commit()
  return undefined
}

const newsOf = (followed: readonly Followed[]): FoundByOrders =>
  followed.flatMap(({ order, news }) => (news ? [{ order, found: news }] : []))

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
  work: (agreed: Agreement, registry: Registry) => Promise<NewEntry> | NewEntry,
): Promise<Withheld> {
  await db.begin(request)
  const agreed = await agree(db, place, request)
  const { entry, done } = await work(agreed, registryOf(db, place, agreed))
  if (request.isDryRun === true) {
    await db.discard()
    return { ...done, number: undefined, version: undefined }
  }
  const { reason, by, day } = request
  const number = await commitWith(db, place.list, agreed, { ...entry, reason, by, day })
  return { number, ...done }
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
