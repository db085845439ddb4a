// Deletes the files of complete copies that contain data withheld since.

import type { Settings } from '../../config/settings.ts'
import { withdrawOutdated } from '../../store/exports/folder.ts'
import type { StoreWriter } from '../../store/writing.ts'

/** @returns the versions of the copies; none if no folder of copies is set. */
export async function withdrawExports(
  store: StoreWriter,
  { exports: folder }: Settings,
): Promise<readonly number[]> {
  if (folder === undefined) return []
  return withdrawOutdated(folder, await store.readStoreId(), await store.withheldState())
}

export function exportLines(versions: readonly number[]): readonly string[] {
  if (versions.length === 0) return []
  return [`Withdrew the copies of the versions ${versions.join(', ')}, and deleted their files.`]
}
