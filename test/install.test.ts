// Packages that `npm ci` installs: row I15 of the list of hostile inputs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeFolder } from './support/import-rows.ts'

const root = join(import.meta.dirname, '..')

test('every installed package is pinned by a hash (I15)', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { integrity?: string }>>
  }
  for (const [path, { integrity = '' }] of Object.entries(packages)) {
    if (path === '') continue
    assert.match(integrity, /^sha512-[\w+/]{86}==$/, path)
  }
})

test('an install compiles the sources as commands need them, for every user', (t) => {
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'))
  for (const path of readdirSync(join(root, 'node_modules'))) {
    if (!path.startsWith('.'))
      symlinkSync(join(root, 'node_modules', path), join(folder, 'node_modules', path))
  }
  for (const path of ['bin', 'package.json', 'scripts', 'src']) {
    cpSync(join(root, path), join(folder, path), { recursive: true })
  }
  writeFileSync(join(folder, 'x.ndjson'), '{"company_id":1,"title":"Baker"}\n')
  const run = (command: string, ...args: string[]) => {
    const env = { PATH: process.env['PATH'] }
    const done = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' })
    assert.equal(done.status, 0, done.stderr)
  }
  const compiled = () => globSync('node_modules/.cache/dossier/*/*', { cwd: folder })
  run('npm', 'run', 'postinstall')
  const first = compiled()
  for (const path of first) assert.ok(statSync(join(folder, path)).mode & 0o004, path)
  run('bin/dossier', 'import', 'jobs', 'x.ndjson')
  // The executable itself runs when it is loaded.
  assert.ok(compiled().length <= first.length + 2, `${compiled().length - first.length} more files`)
})

/** Runs a copy of the launcher without runtime packages, on the machine's `node`. */
function launchWith(t: TestContext, node: string) {
  const folder = makeFolder(t)
  for (const name of ['bin', 'path']) mkdirSync(join(folder, name))
  copyFileSync(join(root, 'bin/dossier'), join(folder, 'bin/dossier'))
  for (const name of ['src', 'package.json']) symlinkSync(join(root, name), join(folder, name))
  symlinkSync(node, join(folder, 'path/node'))
  // Through a symbolic link, as in a folder of PATH.
  symlinkSync('../bin/dossier', join(folder, 'path/dossier'))
  const PATH = `${join(folder, 'path')}:/usr/bin:/bin`
  return spawnSync('dossier', ['--version'], { env: { PATH }, encoding: 'utf8' })
}

test('without a runtime package, the launcher uses a recent Node.js of the machine', (t) => {
  assert.match(launchWith(t, process.execPath).stdout, /^\d+\.\d+\.\d+\n$/)
  const without = launchWith(t, '/bin/false')
  assert.equal(without.status, 1)
  assert.match(without.stderr, /^dossier: no runtime found\. .* 'npm ci' in .*Node\.js 24 or later/)
})
