// URLs that lead to no store: one line says what is wrong with them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFolder } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { runDossier } from '../support/run-dossier.ts'
import { onCitus, schemaUrl, testServerUrl } from '../support/store-at.ts'

/** Faults of a URL, and their one-line messages without the password. */
const strangers: readonly (readonly [what: string, url: (good: URL) => string, says: RegExp])[] = [
  [
    'nothing listens',
    (url) => url.href.replace(/:\d+\//, ':1/'),
    /start PostgreSQL, or correct --db/,
  ],
  ['no such host', (url) => url.href.replace('127.0.0.1', 'no.invalid'), /correct --db/],
  [
    'a wrong password',
    (url) => url.href.replace('password', 'secret'),
    /correct the user or the password/,
  ],
  ['no such database', (url) => url.href.replace('/postgres?', '/none?'), /createdb/],
  ['an invalid schema name', (url) => `${url.href}X;--`, /schema= takes up to 63/],
  [
    'a schema name that PostgreSQL keeps for itself',
    (url) => url.href.replace(/schema=.*/, 'schema=pg_registry'),
    /does not begin with pg_/,
  ],
  [
    'an unknown sslmode',
    (url) => withParameter(url, 'sslmode', 'verify_full'),
    /sslmode=verify_full[^ ]*: sslmode= takes one of disable, .*, verify-full\n$/,
  ],
  [
    'an unknown ssl',
    (url) => withParameter(url, 'ssl', 'false'),
    /: ssl= takes one of 0, 1, true, no-verify\n$/,
  ],
  [
    'an sslmode that is given twice',
    (url) => `${withParameter(url, 'sslmode', 'verify-full')}&sslmode=disable`,
    /: sslmode= is given more than once\n$/,
  ],
  [
    'an sslmode without its CA',
    (url) => `${withParameter(url, 'uselibpqcompat', 'true')}&sslmode=verify-ca`,
    /: sslmode=verify-ca needs the file of a CA: sslrootcert=FILE\n$/,
  ],
  [
    'TLS with a server that has none',
    (url) => withParameter(url, 'sslmode', 'require'),
    /: it has no TLS; set ssl = on in PostgreSQL, or sslmode=disable in --db\n$/,
  ],
  [
    'a missing CA',
    (url) => withParameter(url, 'sslrootcert', '/no/ca.pem'),
    /: ENOENT: [^\n]* '\/no\/ca.pem'; correct --db, or the variables PG…\n$/,
  ],
  [
    'an unknown negotiation of TLS',
    (url) => withParameter(url, 'sslnegotiation', 'late'),
    /Invalid sslnegotiation value: "late"[^\n]*; correct --db, or the variables PG…\n$/,
  ],
  [
    'a negotiation of TLS with a server that has none',
    (url) => withParameter(url, 'sslnegotiation', 'direct'),
    /: no connection \(Client network socket disconnected [^\n]*\n$/,
  ],
  [
    'an invalid port',
    (url) => withParameter(url, 'port', 'abc'),
    /port=abc: it cannot be reached \(ERR_SOCKET_BAD_PORT\)/,
  ],
  [
    'no socket in a folder',
    (url) => withParameter(url, 'host', '/nowhere'),
    /host=%2Fnowhere: it cannot be reached \(ENOENT\)/,
  ],
  [
    'bytes that are not UTF-8',
    (url) => url.href.replace('/postgres?', '/%ff?'),
    /: URI malformed; correct --db, or the variables PG…\n$/,
  ],
  ['an invalid time', (url) => withParameter(url, 'query_timeout', 'x'), /takes milliseconds\n$/],
  [
    'a misspelt schema',
    (url) => url.href.replace('schema=', 'schma='),
    /: there is no parameter schma=; did you mean schema=\?\n$/,
  ],
  [
    'a misspelt sslmode',
    (url) => withParameter(url, 'SSLMode', 'verify-full'),
    /: there is no parameter SSLMode=; did you mean sslmode=\?\n$/,
  ],
  [
    'an unknown setting',
    (url) => withParameter(url, 'options', '-c work_memory=1'),
    /parameter "work_memory"; correct the parameters of --db, or PGOPTIONS\n$/,
  ],
]

function withParameter(url: URL | string, name: string, value: string): string {
  const other = new URL(url)
  other.searchParams.set(name, value)
  return other.href
}

for (const [what, urlOf, says] of strangers) {
  // The nodes of a trial cluster trust each other, and so every password.
  const skip = what === 'a wrong password' && onCitus
  test(`serve, import and keys list: ${what} is reported in one line`, { skip }, async (t) => {
    const url = urlOf(new URL(schemaUrl('strangers')))
    for (const args of [['serve'], ['import', 'rights', '-'], ['keys', 'list']]) {
      const { code, err } = await runCommand(makeFolder(t), [...args, '--db', url])
      assert.equal(code, 1, err)
      assert.match(err, says)
      assert.match(err, /^dossier: [^\n]*\n$/)
      assert.ok(!/test%20password|secret/.test(err), 'no password is shown')
    }
  })
}

test('an unknown PGSSLMODE is named, unless the URL has its own', async (t) => {
  const folder = makeFolder(t)
  const list = (db: string, mode: string) =>
    runCommand(folder, ['keys', 'list', '--db', db], { env: { PGSSLMODE: mode } })
  const url = schemaUrl('sslmode')
  const wrong = /PGSSLMODE is "verify_full"; it must be one of disable, .*, verify-full\n/
  assert.match((await list(url, 'verify_full')).err, wrong)
  const own = withParameter(url, 'sslmode', 'disable')
  for (const [db, mode = 'verify_full'] of [[own], [url, ''], ['file.db']] as const) {
    assert.match((await list(db, mode)).err, /holds no registry|does not exist/)
  }
})

test('an import without a schema is told to name one', async (t) => {
  const db = withParameter(testServerUrl(), 'options', '-c search_path=nowhere')
  const input = '{"id":1,"company_id":7}\n'
  const args = ['import', 'rights', '-', '--db', db]
  const { code, err } = await runDossier(makeFolder(t), args, { input })
  assert.equal(code, 1)
  assert.match(err, /^dossier: [^\n]*name one in --db with \?schema=[^\n]*\n$/)
})
