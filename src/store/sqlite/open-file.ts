// Whether the path of a store still leads to the file that is open.

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../config/operator-error.ts'

const checks = new WeakMap<DatabaseSync, () => void>()

/**
 * Watches the path of an open store: a file that another one has replaced can still be read and
 * written, but nobody else sees that.
 *
 * @returns a check that throws an OperatorError with the advice.
 */
export function watchFile(db: DatabaseSync, advice: string): () => void {
  const path = db.location()
  const opened = path === null ? undefined : statSync(path, { throwIfNoEntry: false })
  const check = () => {
    if (path === null) return
    const now = statSync(path, { throwIfNoEntry: false })
    if (now !== undefined && now.ino === opened?.ino && now.dev === opened.dev) return
    throw new OperatorError(`${path} was replaced ${advice}`)
  }
  checks.set(db, check)
  return check
}

/** Checks the path of a connection that is watched. @throws OperatorError with its advice. */
export function checkPath(db: DatabaseSync): void {
  checks.get(db)?.()
}
