// Reads the rows of a text file, which is CSV, TSV, NDJSON or JSON.

import { isCsv } from './csv-record.ts'
import { openContent, type Reading } from './file-content.ts'
import { readJson } from './json/read-json.ts'
import { readCsv } from './read-csv.ts'
import type { Rows } from './refusal.ts'
import type { SourceFile } from './source-file.ts'

/**
 * Reads the rows of a file.
 *
 * @param at the index of the file.
 * @param onColumns receives the names of the columns, which JSON has none of; throws if they are
 *   wrong.
 * @throws OperatorError if the file cannot be read to its end.
 */
export async function* readText(
  file: SourceFile,
  at: number,
  reading: Reading,
  onColumns: (columns: readonly string[]) => void,
): AsyncGenerator<Rows> {
  const content = await openContent(file, reading)
  if (isCsv(file)) yield* readCsv(file, content.chunks, at, onColumns)
  else yield* readJson(file, content, at)
}
