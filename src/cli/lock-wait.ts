// How a command that changes the store waits for the write lock.

import type { LockWait } from '../store/work-watch.ts'
import type { CommandContext } from './command.ts'

/** What a command reports while it waits. */
export const waitingLine = 'another command is writing to the store; waiting for it to finish'

/** Reports that the command is waiting; a signal ends the wait. */
export function lockWait({ stderr, signal }: CommandContext): LockWait {
  return { onWait: (reason = waitingLine) => stderr.writeLines(reason), signal }
}
