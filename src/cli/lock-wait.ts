// How a command that changes the store waits for the write lock.

import type { LockWait } from '../store/lock-wait.ts'
import type { CommandContext } from './command.ts'

/** Reports that the command is waiting; a signal ends the wait. */
export function lockWait({ stderr, signal }: CommandContext): LockWait {
  const onWait = () => {
    stderr.writeLines('another command is writing to the store; waiting for it to finish')
  }
  return { onWait, signal }
}
