// `dossier export`: writes a complete copy of the registry.

import { formatCount } from '../../text/format-count.ts'
import { parsePoint, writePoint } from '../../http/requests/cursors.ts'
import { resources } from '../../resources/index.ts'
import { exportFormats } from '../../store/exports/manifest.ts'
import { writeExport } from '../../store/exports/write-export.ts'
import { openStoreForShowing } from '../../store/open-store.ts'
import { type Command, onlyPath, print } from '../command.ts'
import { parseChoice, parseVersion } from '../option-values.ts'
import { createProgress, storeOf } from '../progress.ts'
import { tableLines } from '../table.ts'

export const exportCommand: Command = {
  summary: 'write a complete copy of the registry as files',
  synopsis: ['export DIR [--format FORMATS] [--version N] [--json]'],
  details: `
Writes DIR/VERSION: files of up to a million records for each listing and for the companies, and
manifest.json with their counts, SHA-256 and the cursor from which to follow changes. DIR must hold
nothing but copies; \`dossier serve --exports DIR\` offers them to keys with the scope exports. A
copy is complete or absent: an export that fails leaves nothing. If DIR already has this copy,
nothing is written, and the exit code is 0.

  dossier export exports
  dossier export exports --format ndjson.zst,parquet --version 17`,
  options: {
    '--format FORMATS': `one or more of ${exportFormats.join(',')} (default: ${exportFormats[0]})`,
    '--version N': 'the version to copy (default: the last one)',
    '--json': 'print the manifest as JSON',
  },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const { words, options } = input
    const folder = onlyPath(words, 'name one folder: export DIR')
    const { format = exportFormats[0], version: given } = options
    const formats = format.split(',').map((word) => parseChoice('format', word, exportFormats))
    const version = given === undefined ? undefined : parseVersion('--version', given)
    const { signal, stderr } = context
    const show = createProgress(context, 'records')
    await using reader = await openStoreForShowing(storeOf(input, context))
    const manifest = await writeExport(reader, resources, {
      folder,
      formats,
      version,
      signal,
      cursorOf: writePoint,
      pointOf: parsePoint,
      onKept(kept) {
        stderr.writeLines(`${folder} already has a copy of version ${kept}; nothing to do`)
      },
      onStep: (name, count) => show({ step: `writing ${name}`, count, done: NaN }),
    })
    const rows = manifest.resources.map(({ resource, records, files }) => [
      `  ${resource}`,
      formatCount(records).padStart(14),
      formatCount(files.reduce((sum, { bytes }) => sum + bytes, 0)).padStart(16),
    ])
    const title = `Version ${manifest.version} in ${folder}/${manifest.version}: records, bytes`
    print(input, context, manifest, [title, ...tableLines(rows)])
    return 0
  },
}
