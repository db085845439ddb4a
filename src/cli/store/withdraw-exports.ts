// Deletes the files of complete copies that contain data withheld since.

import type { Settings } from '../../config/settings.ts'
import { isAbsent } from '../../files/absent.ts'
import { withdrawOutdated } from '../../store/exports/folder.ts'
import type { StoreWriter } from '../../store/writing.ts'
import type { CommandContext } from '../command.ts'

/** @returns the versions of the copies; none if no folder of copies is set. */
export async function withdrawExports(
  store: StoreWriter,
  { exports: folder }: Settings,
  { stderr }: Pick<CommandContext, 'stderr'>,
): Promise<readonly number[]> {
  if (folder === undefined) return []
  if (isAbsent(folder)) {
    const where = `the folder of --exports, ${folder}, does not exist`
    stderr.writeLines(`dossier: warning: ${where}: no copies were looked for`)
    return []
  }
  return withdrawOutdated(folder, await store.readStoreId(), await store.withheldState())
}

export function exportLines(versions: readonly number[]): readonly string[] {
  if (versions.length === 0) return []
  const [copies, their] =
    versions.length === 1 ? ['copy of version', 'its'] : ['copies of versions', 'their']
  return [`Withdrew the ${copies} ${versions.join(', ')}, and deleted ${their} files.`]
}
