// A process that opens a new file at a given moment, so that several of them collide. It is forked:
// each message is a file to open and when to do it; each answer is `made`, or what went wrong.

import { resources } from '../../src/resources/index.ts'
import { openForWriting } from '../../src/store/sqlite/open.ts'
import { openUsage } from '../../src/store/sqlite/usage.ts'

/** The file to create: a store, or the file with the uses of its keys. */
export interface Order {
  readonly kind: 'store' | 'usage'
  readonly path: string
  /** Milliseconds since 1970. */
  readonly at: number
}

function make({ kind, path, at }: Order): string {
  // Timers are not precise enough for the collision.
  while (Date.now() < at);
  try {
    const made = kind === 'store' ? openForWriting(path, resources) : openUsage(path, 'store')
    made.close()
    return 'made'
  } catch (error) {
    return String(error)
  }
}

process.on('message', (order: Order) => void process.send?.(make(order)))
