// What an operator asks to withhold: where it is, and what is said if it is not there.

import { OperatorError } from '../../config/operator-error.ts'
import type { CompanyName } from '../inspecting.ts'
import { namesIn } from '../sql/company-tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import type { Registry, Wanted } from './apply-order.ts'
import {
  type IdSubject,
  isInForce,
  joinFound,
  type List,
  nothingFound,
  type Order,
  type OrderKind,
  ordersOf,
  ordersOn,
  type PhraseHash,
  type ValueSubject,
} from './list/entries.ts'
import type { Hasher } from './list/hashes.ts'
import { idsOfNames, locate } from './locate.ts'
import { hashValue } from './personal.ts'
import { phrasesOf } from './phrases.ts'

/** What to withhold, as an operator names it. */
export type AskedSubject =
  | IdSubject
  | { readonly resource: string; readonly field: string; readonly value: string }
  | { readonly company: CompanyName; readonly text?: string | undefined }

/** What an operator asks for. */
interface Asked {
  readonly kind: OrderKind
  readonly subject: AskedSubject
}

/** Turns what an operator asks for into an order: hashes a value, and looks up names. */
export async function wantedOf(
  { db, hasher }: Registry,
  list: List,
  { kind, subject }: Asked,
): Promise<Wanted> {
  if ('company' in subject) {
    const { company, text } = subject
    const companies = new Set(await companyIdsOf(db, company))
    const [id = 0] = companies
    const found = { ...nothingFound, phrases: text === undefined ? [] : phrasesOf([text], hasher) }
    const named = text === undefined ? { company: id } : { textOf: id }
    return { kind, subject: named, found, ids: new Set(), companies, isByIds: false }
  }
  const orders = ordersOn(ordersOf(list), subject.resource)
  if ('id' in subject) {
    // Whom a masked record names is known to its earlier orders only: one that was lifted, too, if
    // it was on this record alone.
    const earlier = orders.filter(
      (one) => (isInForce(one) || 'id' in one.subject) && one.found.ids.includes(subject.id),
    )
    const known = await joinEarlier(db, earlier, hasher)
    return { kind, subject, ...known, ids: new Set([subject.id]), isByIds: true }
  }
  const { resource, field, value } = subject
  const hashed = { resource, field, value: hashValue(hasher, resource, field, value) }
  const [phrase] = phrasesOf([value], hasher)
  // A mask may have hidden the value that is to be erased.
  const masked = kind === 'mask' ? [] : orders.filter((one) => hasMasked(one, hashed, phrase))
  const known = await joinEarlier(db, masked, hasher)
  return { kind, subject: hashed, value, ...known, isByIds: false }
}

/** Joins what earlier orders know. */
async function joinEarlier(db: RegistryDatabase, orders: readonly Order[], hasher: Hasher) {
  const here = await locate(db, orders, hasher)
  return {
    found: joinFound(orders.map(({ found }) => found)),
    ids: new Set(here.flatMap(({ ids }) => [...ids])),
    companies: new Set(here.flatMap(({ companies }) => [...companies])),
  }
}

/** Whether an order on records of a resource has masked a value in all that it has found. */
function hasMasked(
  { subject, found }: Order,
  { field, value }: ValueSubject,
  phrase: PhraseHash | undefined,
): boolean {
  const isSame = 'field' in subject && subject.field === field && subject.value === value
  const isOfOne = found.ids.length === 1 && found.phrases.some(({ hash }) => hash === phrase?.hash)
  return isSame || isOfOne
}

/** The ids of a company, and of others that have or had its name. */
async function companyIdsOf(db: RegistryDatabase, company: CompanyName): Promise<number[]> {
  if (typeof company !== 'number') return idsOfNames(db, [company])
  return [company, ...(await idsOfNames(db, namesIn(await db.tables.statesById([company]))))]
}

/**
 * The error of an order for which the registry has nothing.
 *
 * @param isKnown whether the registry has or had the company of an order for one.
 */
export function nothingThere({ kind, subject }: Asked, isKnown: boolean): OperatorError {
  const [what, ofMasked] = lackOf(subject, isKnown)
  const advice = [
    ...(kind === 'erase' && ofMasked !== '' ? [ofMasked] : []),
    // They outlive the versions that were pruned.
    ...('resource' in subject ? ['hide words in recorded changes with company … --text'] : []),
  ].join('; ')
  const said = advice === '' ? '' : ` (${advice})`
  return new OperatorError(`${what}, now or in a past version${said}; nothing was withheld`)
}

/** What the registry lacks, and what applies to an erasure if it was masked before. */
function lackOf(
  subject: AskedSubject,
  isKnown: boolean,
): readonly [what: string, ofMasked: string] {
  if ('id' in subject) return [`${subject.resource} has no record ${subject.id}`, '']
  if ('field' in subject) {
    const { resource, field } = subject
    const ofMasked = 'name a masked record by its id'
    return [`no record of ${resource} has this value in ${field}`, ofMasked]
  }
  const company = `company ${[subject.company].flat().join(' ')}`
  if (!isKnown) return [`${company} is not in the registry`, '']
  const ofMasked = 'words already masked are kept masked'
  return [`${company} has no such text of three letters or more`, ofMasked]
}
