// What has to be undone at the end, last things first.

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
