// Input that is far too long is refused within bounded memory.

import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { constants, createZstdCompress } from 'node:zlib'
import { makeFolder } from '../support/import-rows.ts'
import { peakMemoryMb, startDossier } from '../support/run-dossier.ts'

const limitMb = 400
const piece = Buffer.alloc(1 << 20, 'x')

/** 300 MB without a line end between two texts, never held in memory at once. */
function* longText(before: string, after: string): Generator<Buffer> {
  yield Buffer.from(before)
  for (let n = 0; n < 286; n++) yield piece
  yield Buffer.from(after)
}

const good = '{"id":1,"company_id":7}'

/** Inputs with a 300 MB value, and the messages. */
const inputs: Readonly<Record<string, readonly [before: string, after: string, says: RegExp]>> = {
  'x.ndjson.zst': [`${good}\n{"name":"`, `"}\n`, /line 2: is longer than 8 MiB/],
  'x.json.zst': [`[${good},{"name":"`, '"}]', /row 2: is longer than 8 MiB/],
  'x.csv.zst': ['id,company_id,name\n1,7,', '\n', /line 2 is longer than 16 MiB/],
  'header.csv.zst': ['id,company_id,', '\n1,7,x\n', /the header is longer than 1 MiB/],
}

for (const [name, [before, after, says]] of Object.entries(inputs)) {
  test(`${name}: a 300 MB value is refused within ${limitMb} MB of memory (G16)`, async (t) => {
    const folder = makeFolder(t)
    const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
    await pipeline(
      Readable.from(longText(before, after)),
      createZstdCompress(fast),
      createWriteStream(join(folder, name)),
    )
    const { child, ended } = startDossier(t, folder, ['import', 'rights', name])
    const peak = await peakOf(child.pid, ended)
    const { code, err } = await ended
    assert.equal(code, 1, err)
    assert.match(err, says)
    assert.ok(err.length < 1_000, 'the value is cut short')
    assertBounded(peak)
  })
}

test('standard input: a 300 MB line is refused and the next one read (G16)', async (t) => {
  const args = ['import', 'rights', '-', '--rejects', 'bad.ndjson', '--json']
  const { child, ended } = startDossier(t, makeFolder(t), args)
  const feed = pipeline(Readable.from(longText('{"name":"', `"}\n${good}\n`)), child.stdin)
  const peak = await peakOf(child.pid, ended)
  await feed
  const { code, out, err } = await ended
  assert.equal(code, 0, err)
  const { counts } = JSON.parse(out) as { counts: Record<string, number> }
  assert.deepEqual([counts['read'], counts['inserted'], counts['refused']], [2, 1, 1])
  assertBounded(peak)
})

/** The peak memory of a process. */
async function peakOf(pid: number | undefined, ended: Promise<unknown>): Promise<number> {
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, peakMemoryMb(pid))), 5)
  await ended
  clearInterval(watch)
  return peak
}

function assertBounded(peakMb: number): void {
  if (process.platform !== 'linux') return
  assert.ok(peakMb > 20, `it was measured: ${peakMb} MB`)
  assert.ok(peakMb < limitMb, `${peakMb} MB`)
}
