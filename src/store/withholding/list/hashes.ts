// The salted hashes by which the list names people, their records' keys and companies.

import { hash } from 'node:crypto'
import { inTurns } from '../../listing/in-batches.ts'
import type { CompanyRow, ListingTables } from '../../listing/tables.ts'
import { assignedIdMin } from '../../sql/assigned-ids.ts'
import type { Found } from './entries.ts'

/** Hashes texts of a kind, such as keys of a resource. */
export type Hasher = (kind: string, ...texts: readonly string[]) => string

/** 132 bits of a SHA-256 in base64. */
const hashLength = 22

export function createHasher(salt: string): Hasher {
  return (...texts) =>
    hash('sha256', JSON.stringify([salt, ...texts]), 'base64url').slice(0, hashLength)
}

/** The hash of a company's register number; null if it has none. */
export function hashCompany(
  hasher: Hasher,
  { jurisdiction, identifier }: Pick<CompanyRow, 'jurisdiction' | 'identifier'>,
): string | null {
  const isNamed = jurisdiction !== null && identifier !== null
  return isNamed ? hasher('company', jurisdiction, identifier) : null
}

/** The hashes of the present and past names of companies, by ids; only of those that have one. */
export type NameHashes = ReadonlyMap<number, readonly string[]>

const idsAtOnce = 1_000

export async function hashNames(
  tables: ListingTables,
  hasher: Hasher,
  ids: Iterable<number>,
): Promise<NameHashes> {
  const hashes = new Map<number, string[]>()
  for await (const some of inTurns(ids, idsAtOnce)) {
    for (const named of await tables.statesById(some)) {
      const hash = hashCompany(hasher, named)
      if (hash === null) continue
      const known = hashes.get(named.id)
      // Most of 200,000 companies have one: a set for each would take five times as much.
      if (known === undefined) hashes.set(named.id, [hash])
      else if (!known.includes(hash)) known.push(hash)
    }
  }
  return hashes
}

/** Companies of a registry, for the list. */
export async function listCompanies(
  tables: ListingTables,
  hasher: Hasher,
  companies: Iterable<number>,
): Promise<Found['companies']> {
  const ids = new Set(companies)
  const hashes = await hashNames(tables, hasher, ids)
  return [...ids].flatMap((id) => (hashes.get(id) ?? [null]).map((name) => ({ id, name })))
}

/**
 * The ids of listed companies, without assigned ones that others have here: a restore may have left
 * the branch in which they were assigned.
 */
export function idsHere(companies: Found['companies'], names: NameHashes): number[] {
  const here = companies.filter(({ id, name }) => {
    const own = id < assignedIdMin ? undefined : names.get(id)
    return own === undefined || name === null || own.includes(name)
  })
  return [...new Set(here.map(({ id }) => id))]
}
