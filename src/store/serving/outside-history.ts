// Which versions can be shown (contract 9.3), for listings and for companies.

import type { OutsideHistory, RegistryState } from '../reading.ts'

/** Why a version cannot be shown; undefined if it can. */
export function findOutside(
  version: number | undefined,
  { version: latest, earliestVersion: earliest }: RegistryState,
): OutsideHistory | undefined {
  if (version === undefined) return undefined
  if (version > latest) return { outside: 'later', earliest, latest }
  return version < earliest ? { outside: 'pruned', earliest, latest } : undefined
}
