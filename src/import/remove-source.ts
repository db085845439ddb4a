// Removes what a source has, as a snapshot without rows would.

import { OperatorError } from '../config/operator-error.ts'
import type { StoreWriter } from '../store/writing.ts'
import type { LockWait } from '../store/work-watch.ts'
import type { ImportTarget } from './import-targets.ts'

/** What to remove: the records or companies of one source. */
interface RemovalRequest extends LockWait {
  readonly target: ImportTarget
  readonly source: string
  readonly startedAt: number
}

/**
 * Removes them as the registry's next version; returns that version, and their number.
 *
 * @throws OperatorError if there is nothing to remove, as after another removal.
 */
export async function removeSource(
  store: StoreWriter,
  request: RemovalRequest,
): Promise<{ readonly version: number; readonly removed: number }> {
  const session = await store.beginImport({
    ...request,
    isSnapshot: true,
    isRemoval: true,
    knownCompaniesOnly: true,
    asOf: undefined,
    recording: undefined,
    unit: 'row',
  })
  try {
    const { counts } = await session.prepare(() => undefined)
    if (counts.removed === 0) throw nothingToRemove(request.source, request.target.name)
    const { version } = await session.commit({ counts: { ...counts, read: 0 }, files: [] })
    return { version, removed: counts.removed }
  } catch (error) {
    await session.discard()
    throw error
  }
}

/** @param target undefined for all that the source has. */
export function nothingToRemove(source: string, target: string | undefined): OperatorError {
  const of = target === undefined ? '' : ` of ${target}`
  return new OperatorError(`the source ${source} has nothing${of}, so nothing was changed`)
}
