// The state of a listing at a version of the registry. The last version is read like any other.

import { after, type Awaitable } from '../awaitable.ts'
import { markOf } from '../listing/directory.ts'
import type { FirstTexts } from '../listing/read-page.ts'
import type { HeadRow } from '../listing/tables.ts'
import type { Head, OutsideHistory, RegistryState } from '../reading.ts'
import type { Selection } from '../selection.ts'
import type { Change, HeadInRegistry, ServingReads } from './reads.ts'

/** A listing at a version. */
export interface ListingState {
  readonly head: Head
  readonly meta: string | undefined
  /** Undefined for a listing that has never had records. */
  readonly row: HeadRow | undefined
  /** As `HeadInRegistry.first`. */
  readonly first: FirstTexts | undefined
}

/**
 * The state of a selection's listing; undefined if the company was not in the registry.
 *
 * @param wanted as for `ServingReads.headIn`.
 */
export function readState(
  reads: ServingReads,
  selection: Selection,
  wanted = 0,
): Awaitable<ListingState | OutsideHistory | undefined> {
  const { resource, companyId, version } = selection
  return after(reads.headIn(resource.name, companyId, version, wanted), (found) => {
    const { registry, head } = found
    const outside = findOutside(version, registry)
    if (outside !== undefined) return outside
    // A company whose listing has records is known.
    if (head !== undefined && head.total > 0) {
      return stateSince(reads, selection, found, head.version)
    }
    return after(reads.knownSince(companyId, version ?? registry.version), (since) =>
      since === undefined
        ? undefined
        : stateSince(reads, selection, found, Math.max(since, head?.version ?? 0)),
    )
  })
}

/** Why a version cannot be shown (contract 9.3); undefined if it can. */
export function findOutside(
  version: number | undefined,
  { version: latest, earliestVersion: earliest }: RegistryState,
): OutsideHistory | undefined {
  if (version === undefined) return undefined
  if (version > latest) return { outside: 'later', earliest, latest }
  return version < earliest ? { outside: 'pruned', earliest, latest } : undefined
}

/** The withholding that has rewritten a head after its version; undefined if none has. */
export function rewriteOf(
  reads: Pick<ServingReads, 'change'>,
  head: HeadRow | undefined,
): Awaitable<Change> | undefined {
  const mark = head === undefined ? '' : markOf(head.directory)
  return mark === '' ? undefined : reads.change(mark)
}

/** @param version the one in which the listing last changed. */
function stateSince(
  reads: ServingReads,
  { resource, version: asked }: Selection,
  { registry, head, first }: HeadInRegistry,
  version: number,
): Awaitable<ListingState> {
  return after(reads.change(version, registry), ({ lineage, committedAt }) =>
    after(rewriteOf(reads, head), (rewrite) => ({
      head: {
        total: head?.total ?? 0,
        version,
        lineage: lineage + (rewrite?.lineage ?? ''),
        // Of a past version, too, since its records have changed, and clients have former ones.
        changedAt: Math.max(committedAt, rewrite?.committedAt ?? 0),
        dataVersion: asked ?? registry.version,
        latestVersion: registry.version,
      },
      meta: resource.metaOf === undefined ? undefined : (head?.meta ?? '[]'),
      row: head,
      first,
    })),
  )
}

/**
 * @param state its version, and its lineage, which may go on after that of the version.
 * @throws Error if the history is not that of the state: another one reuses segment numbers.
 */
export function checkHistory(
  { change }: Pick<ServingReads, 'change'>,
  state: Pick<Head, 'version' | 'lineage'>,
  registry?: RegistryState,
): Awaitable<void> {
  return after(change(state.version, registry), ({ lineage }) => {
    if (!state.lineage.startsWith(lineage)) throw new Error('the store has another history now')
  })
}
