// Explains DuckDB's errors to an operator: which file or mapping is at fault, and what to do.

import { OperatorError } from '../../config/operator-error.ts'
import { memoryMb } from './database.ts'
import { temporaryFault } from '../temporary-folder.ts'
import type { TableFile } from './table-file.ts'

/** Whether DuckDB ran out of memory; reading fewer rows at once may succeed. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /^(Out of Memory Error|std::bad_alloc)/.test(error.message)
}

/**
 * Explains an error of DuckDB.
 *
 * @param files the files that it was reading.
 * @param isMapped whether a mapping may be at fault.
 * @returns an OperatorError, or the error itself if it is not an error of DuckDB that we know.
 */
export function explain(error: unknown, files: readonly TableFile[], isMapped: boolean): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError) return error
  const known = knownFault(error, files, isMapped)
  if (known !== undefined) return new OperatorError(known, { cause: error })
  const { text, file } = withNames(error.message, files)
  const lines = text.split('\n').map((line) => line.trim())
  const facts = lines.filter((line, n) => n === 0 || /^(?:Candidate b|Did you mean)/.test(line))
  const message = facts.join(' ').slice(0, 400)
  const why = missingAlias(message) ?? message.replace(/^(?:[A-Z][\w-]{0,30} ){1,4}Error: /, '')
  const subject = file ?? (files.length === 1 ? files[0] : undefined)
  const isOfFile = file !== undefined && !/^Conversion/.test(message)
  if ((isOfFile || !isMapped) && subject !== undefined) {
    return new OperatorError(`${subject.name} cannot be read: ${why}`, { cause: error })
  }
  if (!isMapped) return error
  return new OperatorError(`the mapping fails${placeOf(lines)}: ${why}`, { cause: error })
}

/** Explains a column that is not there, but has the name of a column of the result. */
function missingAlias(message: string): string | undefined {
  const [, column] =
    /^Binder Error: Column (".*") referenced that exists in the SEL/.exec(message) ?? []
  if (column === undefined) return undefined
  return `there is no column ${column} to select; --show 1 prints the columns of the view source`
}

/** The line of the mapping; a line of our own SQL would not help. */
function placeOf(lines: readonly string[]): string {
  const line = lines.find((one) => /^LINE \d/.test(one) && !/\bread_\w{1,40}\(/.test(one))
  const number = /^LINE (\d{1,7})/.exec(line ?? '')?.[1]
  return number === undefined ? '' : ` in line ${number}`
}

/** Replaces paths in a message by the names of their files; also returns the file concerned. */
function withNames(message: string, files: readonly TableFile[]) {
  let text = message
  let found: TableFile | undefined
  for (const file of files) {
    for (const path of file.paths) {
      if (!text.includes(path)) continue
      found = file
      text = text.replaceAll(path, () => file.name)
    }
  }
  return { text, file: found }
}

/** Explains bytes that are not text, faults of the temporary files, and exceeded limits. */
function knownFault(
  error: Error,
  files: readonly TableFile[],
  isMapped: boolean,
): string | undefined {
  const { message } = error
  const what = isMapped ? 'the mapping' : (files[0]?.name ?? 'the file')
  if (message.includes('could not convert blob to UTF8')) {
    return isMapped
      ? `${what} returns bytes that are not UTF-8; hex() makes text of them`
      : `${what} has bytes that are not UTF-8; a mapping (--map) can leave their column out`
  }
  const [, fault] = message.split('duckdb_temp_')[1]?.split('": ') ?? []
  if (fault !== undefined) {
    return temporaryFault(/^No space/.test(fault) ? 'is full' : `cannot be used (${fault})`)
  }
  if (/max_temp_directory_size|temp_directory_limit/i.test(message)) {
    return (
      `${what} needs more temporary space than an import may use (256 MiB plus ten times the ` +
      'size of its files); sort and join less'
    )
  }
  if (!isOutOfMemory(error)) return undefined
  const parquet = files.find(({ kind }) => kind === 'parquet')
  const advice = parquet
    ? `; to read ${parquet.name}, rewrite it with smaller row groups, and pages of at most ` +
      '64 MiB'
    : ''
  const sorts = isMapped ? '; sort, group and join shorter texts' : ''
  return `${what} needs more memory than its limit of ${memoryMb} MB${sorts}${advice}`
}
