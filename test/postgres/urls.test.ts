// URLs that lead to no store: one line says what is wrong with them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFolder } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { onCitus, schemaUrl, testServerUrl } from '../support/store-at.ts'

/** Parts of a URL that are replaced, or parameters that it gets. */
type Change = readonly [part: string | RegExp, by: string] | string

/** Faults of a URL, and their one-line messages without the password. */
const strangers: readonly (readonly [what: string, change: Change, says: RegExp])[] = [
  ['nothing listens', [/:\d+\//, ':1/'], /start PostgreSQL, or correct --db/],
  ['no such host', ['127.0.0.1', 'no.invalid'], /correct --db/],
  ['a wrong password', ['password', 'secret'], /correct the user or the password/],
  ['no such database', ['/postgres?', '/none?'], /createdb/],
  ['an invalid schema name', [/$/, 'X;--'], /schema= takes up to 54/],
  [
    'a schema whose list would have too long a name',
    [/$/, 's'.repeat(55)],
    /schema= takes up to 54/,
  ],
  ['a schema of PostgreSQL itself', [/schema=.*/, 'schema=pg_a'], /does not begin with pg_/],
  [
    'an unknown sslmode',
    'sslmode=verify_full',
    /: sslmode= takes one of disable, .*, verify-full\n$/,
  ],
  ['an unknown ssl', 'ssl=false', /: ssl= takes one of 0, 1, true, no-verify\n$/],
  [
    'an sslmode that is given twice',
    'sslmode=verify-full&sslmode=disable',
    /: sslmode= is given more than once\n$/,
  ],
  [
    'TLS with a server that has none',
    'sslmode=require',
    /: The server does not support SSL connections; correct sslmode=, .* in --db\n$/,
  ],
  [
    'a missing CA',
    'sslrootcert=/no/ca.pem',
    /: ENOENT: [^\n]* '\/no\/ca.pem'; correct --db, or .*\n$/,
  ],
  [
    'an unknown negotiation of TLS',
    'sslnegotiation=late',
    /sslnegotiation value: "late".*; correct/,
  ],
  [
    'a negotiation of TLS with a server that has none',
    'sslnegotiation=direct',
    /: no connection \(Client network socket disconnected [^\n]*\n$/,
  ],
  ['an invalid port', 'port=abc', /port=abc: it cannot be reached \(ERR_SOCKET_BAD_PORT\)/],
  ['no socket in a folder', 'host=/nowhere', /host=%2Fnowhere: it cannot be reached \(ENOENT\)/],
  ['bytes that are not UTF-8', ['/postgres?', '/%ff?'], /: URI malformed; correct --db, or .*\n$/],
  ['a misspelt schema', ['schema=', 'schma='], /no parameter schma=; did you mean schema=\?\n$/],
  [
    'a misspelt sslmode',
    'SSLMode=verify-full',
    /no parameter SSLMode=; did you mean sslmode=\?\n$/,
  ],
  [
    'a parameter that the driver would ignore',
    'target_session_attrs=read-write',
    /: there is no parameter target_session_attrs=; leave it out\n$/,
  ],
  ['an unknown setting', 'options=-c work_memory=1', /"work_memory"; correct .* or PGOPTIONS\n$/],
]

/** A URL with these parameters, each in place of one of its name. */
function withParameters(url: string, parameters: string): string {
  const other = new URL(url)
  const given = [...new URLSearchParams(parameters)]
  for (const [name] of given) other.searchParams.delete(name)
  for (const [name, value] of given) other.searchParams.append(name, value)
  return other.href
}

for (const [what, change, says] of strangers) {
  // The nodes of a trial cluster trust each other, and so every password; Citus turns TLS on.
  const skip = ['a wrong password', 'TLS with a server that has none'].includes(what) && onCitus
  test(`serve, import and keys list: ${what} is reported in one line`, { skip }, async (t) => {
    const good = schemaUrl('strangers')
    const url = typeof change === 'string' ? withParameters(good, change) : good.replace(...change)
    for (const args of [['serve'], ['import', 'rights', '-'], ['keys', 'list']]) {
      const { code, err } = await runCommand(makeFolder(t), [...args, '--db', url])
      assert.equal(code, 1, err)
      assert.match(err, says)
      assert.match(err, /^dossier: [^\n]*\n$/)
      assert.ok(!/test%20password|secret/.test(err), 'no password is shown')
    }
  })
}

test('several hosts are refused, since the driver would not try them in turn', async (t) => {
  const folder = makeFolder(t)
  for (const url of ['a:5432,b:5433/registry', 'a,b/registry', 'a/registry?host=b,c']) {
    const { code, err } = await runCommand(folder, `serve --db postgres://reader@${url}`)
    assert.equal(code, 2, err)
    assert.match(err, /; it must name one host: for a failover, one that follows it\n/)
  }
})

test('an unknown PGSSLMODE is named, unless the URL has its own', async (t) => {
  const folder = makeFolder(t)
  const list = (db: string, mode: string) =>
    runCommand(folder, `keys list --db ${db}`, { env: { PGSSLMODE: mode } })
  const url = schemaUrl('sslmode')
  const wrong = /PGSSLMODE is "verify_full"; it must be one of disable, .*, verify-full\n/
  assert.match((await list(url, 'verify_full')).err, wrong)
  const own = withParameters(url, 'sslmode=disable')
  for (const [db, mode = 'verify_full'] of [[own], [url, ''], ['file.db']] as const) {
    assert.match((await list(db, mode)).err, /holds no registry|does not exist/)
  }
})

test('an import without a schema is told to name one', async (t) => {
  const db = withParameters(testServerUrl(), 'options=-c search_path=nowhere')
  const input = '{"id":1,"company_id":7}\n'
  const args = ['import', 'rights', '-', '--db', db]
  const run = await runDossier(makeFolder(t), args, { input })
  checkExit(run, 1, /^dossier: [^\n]*name one in --db with \?schema=[^\n]*\n$/)
})
