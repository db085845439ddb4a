// Cleanup at the end of a run, in reverse order.

import type { Scope } from '../test/support/temp-store.ts'

export function createScope(): Scope & { close(): Promise<void> } {
  const works: (() => Promise<void>)[] = []
  return {
    after: (work) => void works.unshift(work),
    async close() {
      for (const work of works) await work()
    },
  }
}
