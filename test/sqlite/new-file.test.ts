// Several processes create one file: none fails, and it is created once.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { makeFolder } from '../support/import-rows.ts'
import type { Order } from '../support/store-maker.ts'

const processes = 4
const rounds = 20

function startMakers(t: TestContext): ChildProcess[] {
  const script = join(import.meta.dirname, '../support/store-maker.ts')
  const makers = Array.from({ length: processes }, () => fork(script))
  t.after(() => makers.forEach((maker) => maker.kill()))
  return makers
}

async function makeAtOnce(makers: readonly ChildProcess[], order: Omit<Order, 'at'>) {
  const at = Date.now() + 5
  return Promise.all(
    makers.map(async (maker) => {
      maker.send({ ...order, at } satisfies Order)
      const [answer] = (await once(maker, 'message')) as [string]
      return answer
    }),
  )
}

for (const kind of ['store', 'usage'] as const) {
  test(`several processes can create a new ${kind} file at once (G8)`, async (t) => {
    const folder = makeFolder(t)
    const makers = startMakers(t)
    for (let round = 0; round < rounds; round++) {
      const path = join(folder, `${kind}-${round}.db`)
      const answers = await makeAtOnce(makers, { kind, path })
      assert.deepEqual(new Set(answers), new Set(['made']), `round ${round}`)
      const db = new DatabaseSync(path, { readOnly: true })
      const [mode] = Object.values(db.prepare('pragma journal_mode').get() ?? {})
      db.close()
      assert.equal(mode, 'wal')
    }
  })
}
