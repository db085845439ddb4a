// Scripts such as `npm run bench`: help, usage errors, and what signals leave behind.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { failedFilesIn, failuresIn } from '../scripts/failing-tests.ts'
import { makeFolder } from './support/import-rows.ts'
import { until } from './support/until.ts'
import { isRunning } from '../src/files/unfinished.ts'

const scripts = {
  test: 'scripts/test.ts',
  bench: 'bench/main.ts',
  torture: 'torture/main.ts',
  fuzz: 'fuzz/main.ts',
  soak: 'fuzz/soak.ts',
} as const
const root = join(import.meta.dirname, '..')

function run(name: keyof typeof scripts, ...args: string[]) {
  const script = join(root, scripts[name])
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    // A script that ignored the argument would run for minutes.
    timeout: 300_000,
  })
  return { status, stdout, stderr }
}

for (const name of Object.keys(scripts) as (keyof typeof scripts)[]) {
  test(`npm run ${name} -- --help describes the script and its options`, () => {
    const { status, stdout, stderr } = run(name, '--help')
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    assert.match(stdout, new RegExp(`^\\S.*\\.\n\nUsage: npm run ${name} -- \\[OPTIONS\\]`))
    assert.match(stdout, /\nOptions:\n {2}--\w+/)
  })
}

test('an unknown argument of a script is named with a suggestion, and nothing runs', () => {
  const cases = [
    ['bench', '--quik', '--quik is not an option of this command; did you mean --quick?'],
    ['torture', 'kils', 'kils is not known; did you mean kills?'],
    ['fuzz', '--seed=x', '--seed takes a whole number'],
    ['soak', '--requests', '--requests needs a value'],
  ] as const
  for (const [name, typed, fault] of cases) {
    assert.deepEqual(run(name, typed), {
      status: 2,
      stdout: '',
      stderr: `${name}: ${fault}\nSee: npm run ${name} -- --help\n`,
    })
  }
})

test('torture, ended by a signal, leaves no folder behind', async (t) => {
  const folder = makeFolder(t)
  const env = { ...process.env, TMPDIR: folder }
  const script = spawn(process.execPath, [scripts.torture, 'kills'], { cwd: root, env })
  await once(script.stdout, 'data')
  assert.equal(readdirSync(folder).length, 1)
  script.kill()
  await once(script, 'exit')
  assert.deepEqual(readdirSync(folder), [])
})

test('compare, ended by a signal, leaves no server behind', async (t) => {
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'bin'))
  const other = '#!/bin/sh\n[ "$1" = keys ] || { echo $$ >&2; exec sleep 600; }\n'
  writeFileSync(join(folder, 'bin/dossier'), other, { mode: 0o755 })
  const args = ['--old', folder, '--old-db', 'old.db', '--db', 'new.db']
  const path = join(root, 'scripts/compare-answers.ts')
  const script = spawn(process.execPath, [path, ...args], { cwd: folder })
  const [printed] = (await once(script.stderr, 'data')) as [Buffer]
  script.kill()
  await until(() => !isRunning(Number(printed)))
})

test('the files that fail, and why, are read from what the test runner prints', (t) => {
  const folder = makeFolder(t)
  const passing = "import { test } from 'node:test'\ntest('good', () => {})\n"
  const failing = passing + "test('bad', () => {\n  throw new Error('too late')\n})\n"
  const files = { passing, failing: failing + failing.split('\n').slice(1).join('\n'), ends: '1()' }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, `${name}.test.mjs`), text)
  }
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--test', '--test-reporter=spec', '*.test.mjs']
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env })
  assert.deepEqual(failedFilesIn(stdout), ['ends.test.mjs', 'failing.test.mjs'])
  assert.match(failuresIn(stdout), /✖ bad .*\n {2}Error: too late/)
  assert.deepEqual(failedFilesIn('✔ good (1.2ms)\nℹ fail 0\n'), [])
})
