// Which versions can be shown (contract 9.3), for listings and for companies.

import type { OutsideHistory } from '../reading.ts'

/** The greatest number of a version. */
const versionMax = 2_147_483_647

/** The version up to which states are read; undefined asks for the last one. */
export function versionToRead(version: number | undefined): number {
  return Math.min(version ?? versionMax, versionMax)
}

/**
 * Why a version cannot be shown; undefined if it can.
 *
 * @param history the last version, and the one from which on the past is known.
 */
export function findOutside(
  version: number | undefined,
  history: { readonly latest: number; readonly pastFrom: number },
): OutsideHistory | undefined {
  if (version === undefined) return undefined
  const { latest } = history
  const earliest = Math.max(1, history.pastFrom)
  if (version > latest) return { outside: 'later', earliest, latest }
  if (version >= earliest) return undefined
  return { outside: 'pruned', earliest, latest }
}
