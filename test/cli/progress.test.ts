// The progress of long work on standard error.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CommandContext } from '../../src/cli/command.ts'
import { createOutput } from '../../src/cli/output.ts'
import { createProgress, watchChecks } from '../../src/cli/progress.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
import { importInto, importRows, makeFolder } from '../support/import-rows.ts'
import { storeAt } from '../support/store-at.ts'
import { withoutProgress } from '../../torture/processes.ts'

type Stream = Parameters<typeof createOutput>[0]
type Shown = readonly [step: string, done: number]

const rows = (name: string) =>
  Array.from({ length: 300 }, (_, n) => ({ id: n + 1, company_id: (n % 9) + 1, name }))

/** The steps in their order, each once; fails if the share ever goes back. */
function stepsOf(shown: readonly Shown[]): string[] {
  shown.reduce((before, [step, done]) => {
    assert.ok(done >= before && done <= 1, `${step}: ${done} after ${before}`)
    return done
  }, 0)
  return [...new Set(shown.map(([step]) => step))]
}

test('an import, a revert and a prune show their steps, and never go back', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  for (const name of ['first', 'second']) {
    const shown: Shown[] = []
    const onProgress = ({ step, done }: { step: string; done: number }) => shown.push([step, done])
    await importRows(db, 'rights', rows(name), { onProgress })
    assert.deepEqual(stepsOf(shown), ['reading', 'placing', 'comparing', 'writing', 'committing'])
    assert.ok((shown.at(-1)?.[1] ?? 0) > 0.9)
  }
  const named = Array.from({ length: 300 }, (_, n) => ({
    jurisdiction: 'XX',
    identifier: String(n),
    name: `Name ${n}`,
  }))
  const steps: Shown[] = []
  const onProgress = ({ step, done }: { step: string; done: number }) => steps.push([step, done])
  await importRows(db, 'companies', named, { onProgress })
  const parts = ['placing', 'comparing', 'writing', 'indexing names', 'committing']
  assert.deepEqual(stepsOf(steps), ['reading', ...parts])
  const store = await openStoreWriter(storeAt(db), resources)
  t.after(() => store.close())
  const shown: Shown[] = []
  const watch = {
    onWait: () => undefined,
    onStep: (step: string, done: number) => void shown.push([step, done]),
  }
  const range = { version: 2, isWithLater: false }
  await store.revert({ range, isDryRun: false, startedAt: Date.now(), ...watch })
  assert.deepEqual(stepsOf(shown), ['reverting rights', 'committing'])
  shown.length = 0
  await store.prune(Date.now(), watch)
  assert.deepEqual(
    stepsOf(shown),
    ['companies', 'attributes', ...resources.map(({ name }) => name)].map(
      (name) => `deleting past ${name}`,
    ),
  )
})

const grown = '/proc/sys/kernel/hostname'
const onProc = { skip: existsSync(grown) ? false : 'there is no /proc' }

test('the progress of a file with more bytes than its size is at most 1', onProc, async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const shown: Shown[] = []
  const onProgress = ({ step, done }: { step: string; done: number }) => shown.push([step, done])
  await importInto(db, 'rights', [grown], { file: { format: 'ndjson' }, onProgress })
  assert.ok(shown.length > 0)
  stepsOf(shown)
})

test('off a terminal, there is a line every five seconds', () => {
  let now = 0
  const lines: string[] = []
  const stderr = { isTTY: false, writeLines: (line: string) => lines.push(line) }
  const { signal } = new AbortController()
  const context = { stderr, signal, now: () => now } as unknown as CommandContext
  const check = watchChecks(context)
  const show = createProgress(context)
  for (const [at, step, done] of [
    [1_000, 'reading', 0.1],
    [5_000, 'reading', 0.2],
    [9_999, 'placing', 0.5],
    [10_000, 'writing', 0.629],
    [30_000, 'committing', NaN],
  ] as const) {
    now = at
    show({ step, count: 10_000, done })
  }
  now = 40_000
  show({ step: 'reverting rights', done: 0.5 })
  check('companies')
  assert.deepEqual(lines, [
    'reading: 10,000 rows, 2,000 rows/s, 20 %',
    'writing: 10,000 rows, 1,000 rows/s, 62 %',
    'committing: 10,000 rows, 333 rows/s',
    'reverting rights: 50 %',
    'checking companies …',
  ])
  assert.equal(withoutProgress(lines.map((line) => `${line}\n`).join('')), '')
})

/** What a terminal shows after a text, by its lines. */
function shownAfter(text: string): string[] {
  const plain = text.replaceAll('\u001b[?7l', '').replaceAll('\u001b[?7h', '')
  return plain.split('\n').map((line) => line.split('\r\u001b[K').at(-1) ?? '')
}

test('on a terminal, a bar is at the bottom until the work ends, and lines stay above it', async () => {
  let now = 0
  let written = ''
  const write = (text: string, done: () => void) => {
    written += text
    done()
  }
  const stream = Object.assign(new Socket(), { fd: 2, isTTY: true, write }) as unknown as Stream
  const stderr = createOutput(stream)
  const stdout = createOutput(stream, stderr)
  const context = { stderr, now: () => now } as unknown as CommandContext
  const progress = createProgress(context)
  const show = (at: number, done: number) => {
    now = at
    progress({ step: 'reading', count: 1_000, done })
  }
  show(1_000, 0.25)
  stderr.writeLines('a warning')
  const bar = (done: number) => '█'.repeat(done).padEnd(30, '░')
  show(2_000, 0.5)
  show(2_050, 0.6)
  assert.deepEqual(shownAfter(written), [
    'a warning',
    `reading ${bar(15)} 50 % | 1,000 rows | 500 rows/s`,
  ])
  assert.ok(written.includes(`reading ${bar(7)} 25 % | 1,000 rows | 1,000 rows/s`))
  show(3_000, NaN)
  assert.equal(shownAfter(written).at(-1), 'reading | 1,000 rows | 333 rows/s')
  stdout.writeLines('done')
  await stdout.fault()
  assert.deepEqual(shownAfter(written), ['a warning', 'done', ''])
})
