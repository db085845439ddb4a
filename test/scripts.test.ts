// The help and usage errors of `npm run bench` and similar scripts.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const scripts = {
  test: 'scripts/test.ts',
  bench: 'bench/main.ts',
  torture: 'torture/main.ts',
  fuzz: 'fuzz/main.ts',
  soak: 'fuzz/soak.ts',
} as const

function run(name: keyof typeof scripts, ...args: string[]) {
  const script = join(import.meta.dirname, '..', scripts[name])
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    // A script that ignored the argument would run for minutes.
    timeout: 60_000,
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
    ['bench', '--quick=3', '--quick takes no value'],
    ['torture', 'kils', 'kils is not known; did you mean kills?'],
    ['fuzz', '--seed=x', '--seed takes a whole number'],
    ['soak', '--requests', '--requests needs a value'],
    ['soak', 'long', 'long is not known'],
  ] as const
  for (const [name, typed, fault] of cases) {
    assert.deepEqual(run(name, typed), {
      status: 2,
      stdout: '',
      stderr: `${name}: ${fault}\nSee: npm run ${name} -- --help\n`,
    })
  }
})
