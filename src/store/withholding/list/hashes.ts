// The salted hashes by which the list names people, their records' keys and companies.

import { hash } from 'node:crypto'
import type { CompanyRow } from '../../listing/tables.ts'
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
export function hashNames(
  hasher: Hasher,
  names: readonly CompanyRow[],
): ReadonlyMap<number, readonly string[]> {
  const hashes = new Map<number, Set<string>>()
  for (const named of names) {
    const hash = hashCompany(hasher, named)
    if (hash === null) continue
    hashes.set(named.id, (hashes.get(named.id) ?? new Set()).add(hash))
  }
  return new Map([...hashes].map(([id, some]) => [id, [...some]]))
}

/**
 * The ids of listed companies, without assigned ones that others have here: a restore may have left
 * the branch in which they were assigned.
 *
 * @param names as of `hashNames`.
 */
export function idsHere(
  companies: Found['companies'],
  names: ReadonlyMap<number, readonly string[]>,
): number[] {
  return [...Map.groupBy(companies, ({ id }) => id)]
    .filter(([id, some]) => {
      const own = id < assignedIdMin ? undefined : names.get(id)
      const isListed = (name: string | null) => name === null || own?.includes(name) === true
      return own === undefined || some.some(({ name }) => isListed(name))
    })
    .map(([id]) => id)
}
