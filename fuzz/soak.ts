// A long run: `npm run soak`. It sends valid requests without pause while imports run, and compares
// the server's memory at the end with that after a tenth of the requests, and its descriptors with
// those at the start.

import assert from 'node:assert/strict'
import { resources } from '../src/resources/index.ts'
import { pathOf } from '../test/support/make-app.ts'
import { makeRecords } from '../test/support/make-record.ts'
import { readOptions } from '../test/support/script-options.ts'
import {
  companies,
  descriptors,
  type FuzzedServer,
  residentMb,
  settledDescriptors,
  startFuzzed,
} from './server.ts'
import { createClient } from './wire.ts'

const options = readOptions({
  name: 'soak',
  summary: 'Sends requests without pause during imports, and checks memory and descriptors.',
  numbers: {
    requests: { usual: 1_000_000, meaning: 'number of requests' },
  },
})
const count = options.number('requests')
const clientCount = 8
const importCount = 40
/** The share of the requests after which memory is first measured, and its allowed growth. */
const warmShare = 0.1
const growthMax = 1.1

/** The requests to repeat: every listing, with pages of several sizes and codings. */
function makeRequests({ keys }: FuzzedServer): Buffer[] {
  const codings = ['identity', 'gzip', 'br', 'zstd']
  const queries = ['', '?limit=10', '?limit=50&page=3', '?page=2&limit=200', '?page=999']
  const head = `Host: localhost\r\nAuthorization: Bearer ${keys.good}\r\n`
  return resources.flatMap((resource) =>
    codings.flatMap((coding) =>
      queries.map((query) => {
        const path = pathOf(resource, companies.full) + query
        return Buffer.from(
          `GET ${path} HTTP/1.1\r\n${head}Accept-Encoding: ${coding}\r\nContent-Type: application/json\r\n\r\n`,
        )
      }),
    ),
  )
}

/** Replaces half of the records of every listing. */
async function importAgain({ store }: FuzzedServer, turn: number): Promise<void> {
  for (const resource of resources) {
    const records = makeRecords(resource, companies.records / 2)
    const [text] = Object.entries(resource.fields).filter(([, { kind }]) => kind === 'text')
    assert.ok(text)
    const changed = records.map((record) => ({ ...record, [text[0]]: `turn ${turn}` }))
    await store.load([{ resource, company: companies.full, records: changed }])
  }
}

await using stack = new AsyncDisposableStack()
process.exitCode = await soak(await startFuzzed({ after: (work) => stack.defer(work) }))

async function soak(server: FuzzedServer): Promise<number> {
  const requests = makeRequests(server)
  const startedAt = performance.now()
  const before = descriptors(server.pid)
  let sent = 0
  let imports = 0
  let warmMb: number | undefined
  let importing = Promise.resolve()

  async function run(): Promise<void> {
    const client = createClient(server.port)
    while (sent < count) {
      const request = requests[sent % requests.length]
      assert.ok(request)
      sent += 1
      const { status, text } = await client.ask(request, 'GET')
      assert.equal(status, 200, text)
      assert.ok(text.startsWith('{"ok":true,') && text.endsWith('}'), text)
      if (sent >= count * warmShare) warmMb ??= reportMemory(server, sent)
      if (sent >= ((imports + 1) * count) / importCount) {
        imports += 1
        const turn = imports
        importing = importing.then(() => importAgain(server, turn))
        if (turn % 4 === 0) reportMemory(server, sent)
      }
    }
    client.close()
  }

  await Promise.all(Array.from({ length: clientCount }, run))
  await importing
  const endMb = reportMemory(server, sent)
  const after = await settledDescriptors(server.pid, before)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  const growth = warmMb && endMb ? endMb / warmMb : undefined
  const factor = growth?.toFixed(2) ?? '?'
  console.log(`${sent} requests, ${imports * resources.length} imports in ${seconds} s`)
  console.log(`resident at the end: ${factor} of that after ${count * warmShare} requests`)
  console.log(`descriptors: ${before} before, ${after} after`)
  for (const complaint of server.complaints) console.log(`BAD ${complaint}`)
  const isFlat = growth === undefined || growth <= growthMax
  return isFlat && before === after && server.complaints.length === 0 ? 0 : 1
}

function reportMemory({ pid }: FuzzedServer, sent: number): number | undefined {
  const mb = residentMb(pid)
  console.log(`${sent} requests: ${mb?.toFixed(0) ?? '?'} MB resident`)
  return mb
}
