// A long run: `npm run soak`. It sends valid requests without pause while imports run, and compares
// the server's memory at the end with that after a tenth of the requests, and its descriptors with
// those at the start.

import assert from 'node:assert/strict'
import { resources } from '../src/resources/index.ts'
import { pathOf } from '../test/support/make-app.ts'
import { makeRecords } from '../test/support/make-record.ts'
import { readOptions } from '../test/support/script-options.ts'
import { inBatches, runClients } from './campaigns.ts'
import { report } from './report.ts'
import { companies, type FuzzedServer, residentMb, startFuzzed } from './server.ts'

const options = readOptions({
  name: 'soak',
  summary: 'Sends requests without pause during imports, and checks memory and descriptors.',
  numbers: {
    requests: { usual: 1_000_000, meaning: 'number of requests' },
  },
})
const count = options.number('requests')
const importCount = 40

/** The requests to repeat: every listing, with pages of several sizes and codings. */
function makeRequests({ keys }: FuzzedServer): { readonly bytes: Buffer }[] {
  const codings = ['identity', 'gzip', 'br', 'zstd']
  const queries = ['', '?limit=10', '?limit=50&page=3', '?page=2&limit=200', '?page=999']
  const head = `Host: localhost\r\nAuthorization: Bearer ${keys.good}\r\n`
  return resources.flatMap((resource) =>
    codings.flatMap((coding) =>
      queries.map((query) => {
        const path = pathOf(resource, companies.full) + query
        const fields = `${head}Accept-Encoding: ${coding}\r\nContent-Type: application/json\r\n`
        return { bytes: Buffer.from(`GET ${path} HTTP/1.1\r\n${fields}\r\n`) }
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
const server = await startFuzzed({ after: (work) => stack.defer(work) })
const everyImport = Math.ceil(count / importCount)
const requests = makeRequests(server)
let importing = Promise.resolve()
const found = await runClients(
  {
    server,
    count,
    async onProgress(sent) {
      if (sent % everyImport !== 0) return
      console.log(`  ${sent} sent: ${residentMb(server.pid)?.toFixed(0) ?? '?'} MB resident`)
      importing = importing.then(() => importAgain(server, sent / everyImport))
      await importing
    },
  },
  inBatches(() => requests),
  async ({ bytes }, { client, note }) => {
    const { status, text } = await client.ask(bytes, 'GET')
    note(status)
    assert.equal(status, 200, text)
    assert.ok(text.startsWith('{"ok":true,') && text.endsWith('}'), text)
  },
)
process.exitCode = report('soak', found, 0) ? 0 : 1
