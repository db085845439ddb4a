// Follows the orders of the list: those that a store has not carried out yet, as after a kill or in
// a restored backup, and those of another registry, whose list is adopted.

import type { Resource } from '../../resources/resource.ts'
import type { ImportConnection } from '../sql/database.ts'
import { type Applied, applyOrder, type Course, type Registry } from './apply-order.ts'
import { hideKeys } from './hide-keys.ts'
import { type Agreement, compareWithList, noteState } from './list/agreement.ts'
import {
  type Found,
  foundIn,
  isInForce,
  joinFound,
  newsIn,
  nothingFound,
  type Order,
  ordersOf,
} from './list/entries.ts'
import { createHasher } from './list/hashes.ts'
import { type ListPlace, noState } from './list/list.ts'
import { locate } from './locate.ts'
import { findAllPeople } from './withhold-records.ts'

/** The list and the resources of a store. */
export interface WithholdingPlace {
  readonly list: ListPlace
  readonly resources: readonly Resource[]
}

/** An order that a store has followed, and what the list does not say that it has found. */
export interface Followed extends Applied {
  readonly order: number
  readonly news: Found | undefined
}

/** @param told what an import tells of the order, besides what was found here. */
export function followedBy({ number, found }: Order, applied: Applied, told: Found): Followed {
  return { ...applied, order: number, news: newsIn(joinFound([told, applied.found]), found) }
}

/** Follows the entries of the list that the store has not followed yet. */
export async function agree(
  db: ImportConnection,
  place: WithholdingPlace,
  course: Course,
): Promise<Agreement & { readonly followed: readonly Followed[] }> {
  const agreed = await compareWithList(db, place.list)
  const { list, behind, isForeign } = agreed
  if (behind === 0 || isForeign) return { ...agreed, followed: [] }
  const followed = await follow(registryOf(db, place, agreed), agreed, course)
  await noteState(db, list.states.at(-1) ?? noState)
  return { ...agreed, followed }
}

/** Does what the entries say that the store has not followed yet. */
export async function follow(
  registry: Registry,
  { list, behind, registry: id }: Agreement,
  course: Course,
): Promise<Followed[]> {
  const { db, hasher } = registry
  const lacking = list.entries.slice(list.entries.length - behind)
  const missing = new Set(lacking.flatMap(foundIn).map(({ order }) => order))
  const orders = ordersOf(list).filter(({ number }) => missing.has(number))
  // In its own registry, an order on a value finds again whom it has found, by their marks.
  const wanted = (await locate(db, orders, hasher)).map((order) => {
    return { ...order, isByIds: order.registry !== id || 'id' in order.subject }
  })
  const inForce = wanted.filter(isInForce)
  const people = await findAllPeople(registry, inForce)
  const followed: Followed[] = []
  for (const order of inForce) {
    const one = { ...order, people: people.get(order.subject) }
    followed.push(followedBy(order, await applyOrder(registry, one, course), nothingFound))
  }
  for (const { subject, ids, isLifted } of wanted) {
    // A lifted order does nothing, but imports look for the hashes of its natural keys.
    if (!isLifted || !('resource' in subject)) continue
    await hideKeys({ tables: db.tables, hasher }, subject.resource, ids)
  }
  return followed
}

/** The registry, with the hashes of its list. */
export const registryOf = (
  db: ImportConnection,
  { resources }: WithholdingPlace,
  { list }: Agreement,
): Registry => ({ db, resources, hasher: createHasher(list.salt) })
