// Holds back what an import brings although it is withheld, before it is staged: so it is compared
// with nothing, and changes nothing.

import { isDeepStrictEqual } from 'node:util'
import { OperatorError } from '../../config/operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import { encodeAttributes } from '../companies/attribute-text.ts'
import type { ImportOutcome, ImportPlan, StagedRow } from '../importing.ts'
import { digestOf } from '../record-texts.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { readState } from './list/agreement.ts'
import { collectFinds, companyOf, type Finds, type NamedCompany } from './finds.ts'
import { hashKey } from './hide-keys.ts'
import {
  isInForce,
  type List,
  type ListedOrder,
  type Order,
  ordersOf,
  ordersOn,
} from './list/entries.ts'
import {
  createHasher,
  hashCompany,
  type Hasher,
  hashNames,
  idsHere,
  type NameHashes,
} from './list/hashes.ts'
import { noState } from './list/list.ts'
import { findUnsaid } from './log.ts'
import { createHold, type Fields, hideInTexts, type Phrases } from './personal.ts'
import { createHidePhrases } from './phrases.ts'

export type Gate = Awaited<ReturnType<typeof createGate>>

export async function createGate(db: RegistryDatabase, list: List, plan: ImportPlan) {
  const state = list.states.at(-1) ?? noState
  const hasher = createHasher(list.salt)
  const inForce = ordersOf(list).filter(isInForce)
  const names = await namesNow(db, inForce, hasher)
  const companies = createCompanies(inForce, hasher, names)
  const rows = createRowPasses(ordersOf(list), companies, hasher, plan)
  const recorded = plan.recording?.resource
  const holdRecorded = createRowHold(recorded, inForce, hasher)
  return {
    ...rows,
    /** A recorded change, which may name withheld people; undefined if it may not be recorded. */
    passRecorded(row: StagedRow): StagedRow | undefined {
      const held = holdRecorded(row, '')
      return held && companies.hideTextsOf(recorded, [companyOf(held)])(held)
    },
    /** Makes the hashes of the list. */
    hasher,
    /** What the log may have of an import; some of it was found in rows before they passed. */
    async passLogged({ tables }: RegistryDatabase, outcome: ImportOutcome): Promise<ImportOutcome> {
      const { withheld, erased } = rows.counts
      if (withheld === 0) return outcome
      const { attributes = [], difference } = outcome
      const isErasing = erased > 0 && plan.target.resource === undefined
      const lost = await findUnsaid(tables, isErasing ? attributes : [])
      return {
        ...outcome,
        attributes: attributes.filter((name) => !lost.has(name)).map(companies.hideInName),
        difference: difference && { ...difference, same: [] },
      }
    },
    /**
     * @throws OperatorError if something was withheld since the list was read, or a company in
     *   which it hides texts has got a name; called under the write lock.
     */
    async checkState(db: RegistryDatabase): Promise<void> {
      const isSame = (await readState(db)) === state
      if (isSame && isDeepStrictEqual(await namesNow(db, inForce, hasher), names)) return
      throw new OperatorError(
        'what is withheld has changed while this import read its files; nothing was changed; ' +
          'run it again',
      )
    },
  }
}

/**
 * The present and past names of the companies that orders have found: a company may have got its
 * name since the order.
 */
function namesNow(
  { tables }: RegistryDatabase,
  orders: readonly Order[],
  hasher: Hasher,
): Promise<NameHashes> {
  const ids = new Set(orders.flatMap(({ found }) => found.companies.map(({ id }) => id)))
  return hashNames(tables, hasher, ids)
}

/** Creates what passes on the rows of an import, and counts and collects what it holds back. */
function createRowPasses(
  orders: readonly ListedOrder[],
  companies: ReturnType<typeof createCompanies>,
  hasher: Hasher,
  { target: { resource, name }, source }: ImportPlan,
) {
  const listed = new Set(ordersOn(orders, name).flatMap(({ found }) => found.keys))
  /** Whether people may appear in texts that are about something else. */
  const hasTexts = resource === undefined || resource.changeFields !== undefined
  const finds = hasTexts ? undefined : collectFinds(resource, source, hasher)
  const hold = createRowHold(resource, orders.filter(isInForce), hasher, finds)
  const counts = { withheld: 0, erased: 0 }
  const heldKeys = new Set<string>()
  const droppedFrom = new Map<number | string, NamedCompany[]>()
  const counted = (row: StagedRow, passed: StagedRow | undefined): StagedRow | undefined => {
    if (passed?.content !== row.content) {
      counts.withheld += 1
      if (passed !== undefined && row.key !== null) heldKeys.add(row.key)
    }
    if (passed === undefined) counts.erased += 1
    return passed
  }
  function passOne(row: StagedRow): StagedRow | undefined {
    if (companies.isErased(row)) return undefined
    const { id, key } = row
    const hash = key === null || listed.size === 0 ? '' : hashKey(hasher, name, source, key)
    if (key !== null && listed.has(hash)) heldKeys.add(key)
    const held = hold(row, hash)
    if (held === undefined || !hasTexts) return held
    const company = companyOf(row)
    const hidden = companies.hideTextsOf(resource, [company])(held)
    if (hidden !== undefined) return hidden
    const record = id ?? key ?? 0
    const others = droppedFrom.get(record)
    if (others === undefined) droppedFrom.set(record, [company])
    else others.push(company)
    return undefined
  }
  return {
    /**
     * A row as it may be staged: the same, or without what is withheld; undefined if it may not.
     */
    pass: (row: StagedRow) => counted(row, passOne(row)),
    /**
     * As `pass`, for staged rows whose record is in several companies, with one content in all.
     */
    passSharedOf(within: readonly NamedCompany[]) {
      const hide = companies.hideTextsOf(resource, within)
      return (row: StagedRow) => counted(row, hide(row))
    },
    /** How many rows had something that is withheld, and how many of them did not pass. */
    counts: counts as Readonly<typeof counts>,
    /** The natural keys of rows that passed, but without what is withheld, or that the list has. */
    heldKeys: heldKeys as ReadonlySet<string>,
    /** Whether texts of records may have something that is withheld in some companies only. */
    hidesByCompany: resource !== undefined && hasTexts && companies.haveTexts,
    /** The companies of rows that did not pass because of texts withheld there, by ids or keys. */
    droppedFrom: droppedFrom as ReadonlyMap<number | string, readonly NamedCompany[]>,
    /** What rows tell that orders do not know, by the numbers of the orders. */
    finds: () => finds?.list() ?? new Map<number, Finds>(),
  }
}

/** Which companies are erased, and which texts are withheld in others. */
function createCompanies(orders: readonly Order[], hasher: Hasher, known: NameHashes) {
  const erased = new Set<number | string>()
  const phrases = new Map<number | string, Phrases[]>()
  for (const { kind, subject, found } of orders) {
    const names = [
      ...found.companies.flatMap(({ name }) => name ?? []),
      ...idsHere(found.companies, known).flatMap((id) => [id, ...(known.get(id) ?? [])]),
    ]
    if ('company' in subject) for (const name of names) erased.add(name)
    else if (found.phrases.length > 0) {
      const hiding = [{ kind, hidePhrases: createHidePhrases(found.phrases, hasher) }]
      for (const name of new Set(names))
        phrases.set(name, phrases.get(name)?.concat(hiding) ?? hiding)
    }
  }
  const all = orders.flatMap(({ found }) => found.phrases)
  /** The names of a company in the list: its id, and the hash of its register number. */
  const namesOf = (company: NamedCompany) =>
    [company.id, hashCompany(hasher, company)].filter((name) => name !== null)
  return {
    /** Hides in the name of an attribute what is withheld in any company. */
    hideInName: createHidePhrases(all, hasher),
    isErased: (row: StagedRow) =>
      erased.size > 0 && namesOf(companyOf(row)).some((name) => erased.has(name)),
    /** Whether texts are withheld in any company. */
    haveTexts: phrases.size > 0,
    /** Creates a function of a row, which loses the texts that are withheld in companies. */
    hideTextsOf(resource: Resource | undefined, within: readonly NamedCompany[]) {
      const names = phrases.size === 0 ? [] : within.flatMap(namesOf)
      const hidden = new Set(names.flatMap((name) => phrases.get(name) ?? []))
      return (row: StagedRow): StagedRow | undefined =>
        hidden.size === 0 ? row : hideInRow(resource, row, hidden)
    },
  }
}

/**
 * Holds back the records of a resource that orders mean; they are found by the row as given.
 *
 * @param all the orders in force.
 */
function createRowHold(
  resource: Resource | undefined,
  all: readonly Order[],
  hasher: Hasher,
  finds?: ReturnType<typeof collectFinds>,
) {
  const orders = resource === undefined ? [] : ordersOn(all, resource.name)
  if (resource === undefined || orders.length === 0) return holdNone
  const byId = new Map(orders.flatMap((one) => one.found.ids.map((id) => [id, one] as const)))
  const byKey = new Map(orders.flatMap((one) => one.found.keys.map((key) => [key, one] as const)))
  const isByName = orders.every(({ subject }) => !('field' in subject))
  const hold = createHold(resource, orders, hasher)
  return (row: StagedRow, hashOfKey: string): StagedRow | undefined => {
    const named = byId.get(row.id ?? 0) ?? byKey.get(hashOfKey)
    if (named === undefined && isByName) return row
    const fields = JSON.parse(row.content.toString()) as Fields
    const held = hold(fields, named)
    if (held === undefined) return row
    for (const order of held.by) finds?.add(order, row, fields, order === named)
    if (held.kept === fields) return row
    return held.kept && changedRow(row, held.kept)
  }
}

const holdNone = (row: StagedRow, _hashOfKey: string) => row

function changedRow(row: StagedRow, fields: Fields): StagedRow {
  const content = JSON.stringify(fields)
  return { ...row, content, digest: digestOf(content), fields: undefined }
}

/** Hides people in a row about a company that had them: attributes, or a change. */
function hideInRow(
  resource: Resource | undefined,
  row: StagedRow,
  phrases: Iterable<Phrases>,
): StagedRow | undefined {
  const fields = JSON.parse(row.content.toString()) as Fields
  let hidden: Fields | undefined = fields
  for (const one of phrases) hidden &&= hideInTexts(resource, hidden, one)
  if (hidden === undefined || hidden === fields) return hidden && row
  return resource === undefined ? { ...row, ...encodeAttributes(hidden) } : changedRow(row, hidden)
}
