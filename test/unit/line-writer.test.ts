// The log reaches its file in batches, whole and in order.

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLineWriter } from '../../src/server/line-writer.ts'
import { openLogOutput } from '../../src/server/log-output.ts'

test('lines that arrive during a write are of the next batch', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-lines-'))
  const path = join(folder, 'log')
  const descriptor = openSync(path, 'a')
  t.after(() => {
    closeSync(descriptor)
    rmSync(folder, { recursive: true })
  })
  const output = openLogOutput(descriptor)
  let writes = 0
  const counted = {
    ...output,
    write(bytes: Uint8Array) {
      writes += 1
      return output.write(bytes)
    },
  }
  const writer = createLineWriter(counted, (count) => `${count} dropped\n`)
  const lines = Array.from({ length: 8_000 }, (_one, n) => `${n} ${'.'.repeat(100)}\n`)
  const startedAt = performance.now()
  for (const [n, line] of lines.entries()) {
    writer.write(line)
    if (n % 10 === 0) await turn()
  }
  await writer.close()
  assert.equal(readFileSync(path, 'utf8'), lines.join(''))
  // 900 kB: a write for 64 kB, and for 100 ms.
  const writesMax = 15 + (performance.now() - startedAt) / 100
  assert.ok(writes <= writesMax, `${writes} writes`)
})
