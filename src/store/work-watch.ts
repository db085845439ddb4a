// Watching work that may take minutes.

import type { LockWait } from './lock-wait.ts'

/** Receives the step that begins, and the share of the work that is done, from 0 to 1. */
export type OnStep = (step: string, done: number) => void

/** The waiting and the progress of work that changes a store. */
export interface WorkWatch extends LockWait {
  readonly onStep?: OnStep | undefined
}
