// How a command that changes the store waits for its turn.

import type { LockWait } from '../store/lock-wait.ts'
import type { CommandContext } from './command.ts'

/** It says so, and a signal ends it. */
export function lockWait({ stderr, signal }: CommandContext): LockWait {
  const onWait = () => {
    stderr.writeLines('another command is writing to the store; waiting for it to finish')
  }
  return { onWait, signal }
}
