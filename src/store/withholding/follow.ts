// Brings a store up to its list: does what the entries say that it has not followed yet, as in a
// restored backup, or in a registry that adopts the list of another one.

import type { Resource } from '../../resources/resource.ts'
import type { ImportConnection } from '../sql/database.ts'
import { type Applied, applyOrder, type Course } from './apply-order.ts'
import { hideKeys } from './hide-keys.ts'
import { type Agreement, compareWithList, noteState } from './list/agreement.ts'
import { type Found, foundIn, isInForce, newsIn, ordersOf } from './list/entries.ts'
import { createHasher } from './list/hashes.ts'
import { type ListPlace, noState } from './list/list.ts'
import { foundAt, locate, locateValues } from './locate.ts'

/** The list and the resources of a store. */
export interface WithholdingPlace {
  readonly list: ListPlace
  readonly resources: readonly Resource[]
}

/** Follows the entries of the list that the store has not followed yet. */
export async function agree(
  db: ImportConnection,
  place: WithholdingPlace,
  course: Course,
): Promise<Agreement & { readonly followed: readonly Followed[] }> {
  const agreement = await compareWithList(db, place.list)
  const { list, behind, isForeign } = agreement
  if (behind === 0 || isForeign) return { ...agreement, followed: [] }
  const followed = await follow(db, place, agreement, course)
  await noteState(db, list.states.at(-1) ?? noState)
  return { ...agreement, followed }
}

/** An order that a store has followed. */
interface Followed extends Applied {
  readonly order: number
  /** What the list does not say that the order has found. */
  readonly news: Found | undefined
}

/** Does what the entries say that the store has not followed yet. */
export async function follow(
  db: ImportConnection,
  { resources }: WithholdingPlace,
  { list, behind, registry }: Agreement,
  course: Course,
): Promise<Followed[]> {
  const lacking = list.entries.slice(list.entries.length - behind)
  const missing = new Set(lacking.flatMap(foundIn).map(({ order }) => order))
  const orders = ordersOf(list).filter(({ number }) => missing.has(number))
  const hasher = createHasher(list.salt)
  const located = await locate(db, orders, hasher)
  const followed: Followed[] = []
  const inForce = orders.filter(isInForce)
  const candidatesOf = await locateValues({ db, resources, hasher }, inForce, located)
  for (const order of inForce) {
    // In its own registry, an order on a value finds again whom it has found, by their marks.
    const isByMarks = order.registry === registry && 'field' in order.subject
    const wanted = isByMarks
      ? { ...order, found: foundAt(order, located) }
      : { ...order, located: located.get(order.number) }
    const candidates = candidatesOf.get(order.number)
    const applied = await applyOrder({ db, resources, hasher }, { ...wanted, candidates }, course)
    const news = newsIn(applied.found, order.found)
    followed.push({ order: order.number, news, ...applied })
  }
  for (const { number, subject, isLifted } of orders) {
    // A lifted order does nothing, but imports look for the hashes of its natural keys.
    if (!isLifted || !('resource' in subject)) continue
    const { ids = [] } = located.get(number) ?? {}
    await hideKeys({ tables: db.tables, hasher }, subject.resource, ids)
  }
  return followed
}
