// Adds advice for the operator to SQLite's errors.

import { OperatorError, systemCode } from '../../config/operator-error.ts'

/** A known error of SQLite as an OperatorError with advice; else the error. */
export function storeError(path: string, error: unknown): unknown {
  if (error instanceof OperatorError || !isSqliteError(error)) return error
  const advice = adviceOfCode[error.errcode] ?? adviceOfCode[error.errcode & 0xff]
  return advice ? new OperatorError(`${path}: ${advice}`, { cause: error }) : error
}

/** Does work on a file for SQLite. @throws OperatorError like SQLite's own, if the system fails. */
export function onFile<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const advice = adviceOfCode[codeOfSystem[systemCode(error)] ?? 0]
    throw advice ? new OperatorError(`${path}: ${advice}`, { cause: error }) : error
  }
}

/**
 * Whether another process holds the lock (SQLITE_BUSY, SQLITE_LOCKED). Node's `backup` reports that
 * as an error without a code (SQLITE_OK).
 */
export const isBusy = (error: unknown) => hasCode(error, [0, 5, 6])

/** Whether a file is not a database of SQLite (SQLITE_NOTADB). */
export const isNoDatabase = (error: unknown) => hasCode(error, [26])

/** Whether a file is damaged (SQLITE_CORRUPT, SQLITE_NOTADB). */
export const isDamaged = (error: unknown) => hasCode(error, [11, 26])

/** Whether a file is damaged, or cannot be read (SQLITE_IOERR). */
export const isUnreadable = (error: unknown) => hasCode(error, [10, 11, 26])

/** Whether SQLite could not create its files next to a store (SQLITE_READONLY, SQLITE_CANTOPEN). */
export const isUnwritable = (error: unknown) => hasCode(error, [8, 14])

/** Whether it is SQLite's error, or what `storeError` has made of it. */
function hasCode(error: unknown, codes: readonly number[]): error is Error {
  const cause = error instanceof OperatorError ? error.cause : error
  return isSqliteError(cause) && codes.includes(cause.errcode & 0xff)
}

// https://www.sqlite.org/rescode.html
const adviceOfCode: Readonly<Record<number, string>> = {
  3: 'permission denied; run as the user who owns the store',
  5: 'another process is writing to it; try again when it has finished',
  8: 'cannot be written; give this user the right to write the file and its folder',
  10:
    'the disk failed to read or write; check free space, file size limits (ulimit -f) and ' +
    'the system log',
  11: 'is damaged; restore it from a backup: dossier restore COPY',
  13: 'the disk, or the folder for temporary files, is full; free some space and try again',
  14: 'cannot be opened; this user needs to read and write both the file and its folder',
  26: 'is not a Dossier store; check --db',
  776: 'is incomplete, since the command that created it was killed; any import repairs it',
  1032: 'was removed or replaced meanwhile; run the command again',
}

/** SQLite's error codes for errors of the system. */
const codeOfSystem: Readonly<Record<string, number>> = {
  EACCES: 14,
  EPERM: 14,
  EROFS: 14,
  ENOENT: 14,
  EMFILE: 14,
  ENFILE: 14,
  ENOSPC: 13,
  EDQUOT: 13,
  EIO: 10,
}

function isSqliteError(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
}
