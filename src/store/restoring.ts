// The interface for restoring a backup.

import type { CopyWatch, StoredChecks } from './inspecting.ts'
import type { LockWait } from './lock-wait.ts'

/** Progress and cancellation of a restore. */
export interface RestoreWatch extends LockWait {
  /** In milliseconds since 1970. */
  readonly startedAt: number
  readonly checks: StoredChecks
  /** Called often with what is being checked; throwing in it ends the restore. */
  onCheck(step: string): void
  /** The watch of a copy, by the name of the step. */
  copying(step: string): CopyWatch
}

/** The result of a restore. */
export interface Restored {
  /** The path of the replaced store; undefined if there was none. */
  readonly kept: string | undefined
  /** Whether servers still have the replaced file open, and must be restarted. */
  readonly isFileReplaced: boolean
}
