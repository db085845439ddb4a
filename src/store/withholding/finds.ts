// What an import finds of withheld people that their orders do not know: a company to which a
// record has moved, or another name. What is said there may name them, too.

import type { Resource } from '../../resources/resource.ts'
import type { ImportPlan, StagedRow } from '../importing.ts'
import type { CompanyRow } from '../listing/tables.ts'
import { hashKey } from './hide-keys.ts'
import { hashCompany, type Hasher } from './list/hashes.ts'
import type { Order, PhraseHash } from './list/entries.ts'
import { createHold, type Fields, withheldValues } from './personal.ts'
import { phrasesOf } from './phrases.ts'

/** A company, as rows name it. */
export type NamedCompany = Pick<CompanyRow, 'jurisdiction' | 'identifier'> & {
  readonly id: number | null
}

export const companyOf = (row: StagedRow): NamedCompany => ({
  id: row.companyId,
  jurisdiction: row.companyJurisdiction,
  identifier: row.companyIdentifier,
})

/** What an order does not know of what an import has found. */
export interface Finds {
  readonly ids: Set<number>
  /** By hashes. */
  readonly keys: Map<string, string>
  /** By ids, or by hashes of register numbers. */
  readonly companies: Map<number | string, NamedCompany>
  /** By hashes. */
  readonly phrases: Map<string, PhraseHash>
}

/** Collects what rows that were held back tell about the orders that mean them. */
export function collectFinds(resource: Resource, source: string, hasher: Hasher) {
  const byOrder = new Map<Order, ReturnType<typeof createCollector>>()
  const collectorOf = (order: Order) => {
    const known = byOrder.get(order) ?? createCollector(resource, source, order, hasher)
    byOrder.set(order, known)
    return known
  }
  return {
    /** @param isNamed whether the order names the row's record by its id or key. */
    add: (order: Order, row: StagedRow, fields: Fields, isNamed: boolean): void =>
      collectorOf(order).add(row, fields, isNamed),
    /** By the numbers of orders, without those that know everything. */
    list: (): ReadonlyMap<number, Finds> =>
      new Map(
        [...byOrder]
          .map(([{ number }, { finds }]) => [number, finds] as const)
          .filter(([, finds]) => Object.values(finds).some(({ size }) => size > 0)),
      ),
  }
}

function createCollector(resource: Resource, source: string, order: Order, hasher: Hasher) {
  const { found, subject } = order
  const finds: Finds = {
    ids: new Set(),
    keys: new Map(),
    companies: new Map(),
    phrases: new Map(),
  }
  const ids = new Set(found.ids)
  const keys = new Set(found.keys)
  const companies = new Set(found.companies.flatMap(({ id, name }) => [id, name]))
  const phrases = new Set(found.phrases.map(({ hash }) => hash))
  const mask = { kind: 'mask', subject } as const
  const hold = createHold(resource, [mask], hasher)
  return {
    finds,
    add(row: StagedRow, fields: Fields, isNamed: boolean): void {
      const kept = hold(fields, isNamed ? mask : undefined)?.kept ?? fields
      for (const phrase of phrasesOf(withheldValues(resource, fields, kept), hasher)) {
        if (!phrases.has(phrase.hash)) finds.phrases.set(phrase.hash, phrase)
      }
      const company = companyOf(row)
      const name = hashCompany(hasher, company)
      const isKnown = companies.has(name ?? company.id ?? 0) || companies.has(company.id ?? -1)
      if (!isKnown) finds.companies.set(name ?? company.id ?? 0, company)
      if (row.id !== null && !ids.has(row.id)) finds.ids.add(row.id)
      const { key } = row
      if (key === null) return
      const hash = hashKey(hasher, resource.name, source, key)
      if (!keys.has(hash)) finds.keys.set(hash, key)
    },
  }
}

/** An import that has found withheld people where their orders do not know them. */
export interface FindingImport {
  readonly plan: Pick<ImportPlan, 'target' | 'source' | 'startedAt'>
  /** The number of its source. */
  readonly source: number
  readonly version: number
  /** By the numbers of orders. */
  readonly finds: ReadonlyMap<number, Finds>
}
