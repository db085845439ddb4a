// contrib/compose.postgres.yaml: its services and documented commands, run here directly as its
// users, over a PostgreSQL whose roles are those of contrib/postgres-roles.sql.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { makeFolder } from '../support/import-rows.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { askPort, runServer } from '../support/run-server.ts'

const contrib = (name: string) => readFileSync(join(import.meta.dirname, '../../contrib', name))
const hasYaml = spawnSync('python3', ['-c', 'import yaml']).status === 0
const withYaml = { skip: hasYaml ? false : 'python3 with yaml is not installed here' }

interface Service {
  readonly volumes?: readonly string[]
  readonly pids_limit?: number
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: Readonly<Record<string, unknown>>
}

function servicesOf(name: string): Readonly<Record<string, Service>> {
  const script = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))'
  const read = spawnSync('python3', ['-c', script], { input: contrib(name), encoding: 'utf8' })
  assert.equal(read.status, 0, read.stderr)
  return (JSON.parse(read.stdout) as { services: Record<string, Service> }).services
}

test('the owner creates and loads tables, the reader serves them', withYaml, async (t) => {
  const services = { ...servicesOf('compose.yaml'), ...servicesOf('compose.postgres.yaml') }
  const { postgres, owner, migrate, dossier } = services
  assert.ok(postgres && owner && migrate && dossier)
  assert.ok(postgres.healthcheck)
  // What an import stages may be larger than the memory of its service.
  for (const one of [owner, servicesOf('compose.yaml')['dossier']]) {
    assert.ok(one?.volumes?.includes(`registry:${one.environment['TMPDIR']}`))
  }
  // A worker has ten threads; with `auto`, there may be 256 of them.
  assert.ok(Number(servicesOf('compose.yaml')['dossier']?.pids_limit) > 257 * 10)
  assert.equal(migrate.depends_on['postgres']?.condition, 'service_healthy')
  assert.equal(dossier.depends_on['migrate']?.condition, 'service_completed_successfully')

  const passwords = { OWNER_PASSWORD: 'of the owner', READER_PASSWORD: 'of the reader' }
  const server = await startPostgres()
  after(() => server.remove())
  await makeRoles(server.url, postgres.environment, passwords)
  const folder = makeFolder(t, { 'rights.csv': 'company_id,id,name\n7,1,A mark\n' })
  /** The environment of a service, with the server and the folder of this test. */
  const environmentOf = ({ environment }: Service) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        value
          .replace('@postgres/', `@127.0.0.1:${server.port}/`)
          .replace('/var/lib/dossier', folder)
          .replace(/\$\{(\w+):\?[^}]*\}/, (_, of: keyof typeof passwords) => passwords[of]),
      ]),
    )

  const made = await runDossier(folder, migrate.command ?? [], { env: environmentOf(migrate) })
  assert.equal(made.code, 0, made.err)
  const typed = [
    ...contrib('compose.postgres.yaml')
      .toString()
      .matchAll(/run --rm (.*)/g),
  ]
    .map(([, words = '']) => /^(?:-v \S+ )?owner (\w.*)/.exec(words)?.[1])
    .filter((words) => words !== undefined)
  assert.ok(typed.length >= 2)
  let key = ''
  for (const words of typed) {
    const args = words.replace('/in/', `${folder}/`).split(' ')
    const run = await runDossier(folder, args, { env: environmentOf(owner) })
    assert.equal(run.code, 0, run.err)
    if (args[0] === 'keys') key = run.out.trim()
  }

  const reading = environmentOf(dossier)
  const checked = await runDossier(folder, ['check-config'], { env: reading })
  assert.equal(checked.code, 0, checked.out + checked.err)
  const env = { PGPASSWORD: String(reading['PGPASSWORD']) }
  const running = await runServer(t, String(reading['DOSSIER_DB']), [], { env })
  const answer = await askPort(running.port, '/api/v1/companies/7/rights', { key })
  assert.equal(answer.status, 200)
  assert.match(answer.body, /"name":"A mark"/)
  const refused = await runDossier(folder, 'keys revoke first-client', { env: reading })
  checkExit(refused, 1, /permission denied/)
})

/** Applies the environment as the image does, and the file of roles. */
async function makeRoles(
  url: string,
  environment: Readonly<Record<string, string>>,
  passwords: Readonly<Record<'OWNER_PASSWORD' | 'READER_PASSWORD', string>>,
): Promise<void> {
  const { POSTGRES_USER: user, POSTGRES_DB: database } = environment
  const admin = new Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create role ${user} superuser login password '${passwords.OWNER_PASSWORD}'`)
  await admin.query(`create database ${database} owner ${user}`)
  await admin.end()
  const at = new URL(url)
  at.username = String(user)
  at.password = encodeURIComponent(passwords.OWNER_PASSWORD)
  at.pathname = `/${database}`
  const owner = new Client({ connectionString: at.href })
  await owner.connect()
  const sql = contrib('postgres-roles.sql').toString()
  assert.match(sql, /^\\getenv password READER_PASSWORD$/m)
  await owner.query(
    sql.replace(/^\\getenv.*$/m, '').replace(`:'password'`, `'${passwords.READER_PASSWORD}'`),
  )
  await owner.end()
}
