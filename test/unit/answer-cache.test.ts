// What is kept of answers takes the memory that is counted for it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type AnswerCache, createAnswerCache } from '../../src/http/answers/answer-cache.ts'
import type { ReadyState } from '../../src/http/answers/state-answer.ts'
import { borrow } from '../../src/http/wire/body-memory.ts'
import { type Coding, encode } from '../../src/http/wire/coding.ts'
import { bytesInUse } from '../support/bytes-in-use.ts'

const mebibyte = 1_048_576

function answerOf(body: Buffer, coding: Coding): ReadyState {
  const registry = { state: 'a', dataVersion: 1, link: undefined, lastModified: '', tag: '' }
  return { ...registry, body, coding }
}

test('a kept body is in memory of its own size, in every coding (L2)', async () => {
  const answers = createAnswerCache(mebibyte)
  for (const coding of ['identity', 'gzip', 'br', 'zstd'] as const) {
    for (const length of [100, 1_024, 20_000]) {
      const plain = Buffer.from('a'.repeat(length))
      const body = await encode(plain, coding)
      const form = `/${coding}${length}`
      answers.set(form, answerOf(body, coding))
      const kept = answers.get(form)?.body
      assert.ok(kept)
      assert.deepEqual(kept, body)
      assert.equal(kept.buffer.byteLength, kept.length, form)
    }
  }
})

test('a kept body is never in borrowed memory, even if it fills it', () => {
  const answers = createAnswerCache(mebibyte)
  const body = borrow(16_384).fill('a')
  answers.set('/', answerOf(body, 'identity'))
  body.fill('b')
  assert.equal(answers.get('/')?.body.toString(), 'a'.repeat(16_384))
})

test('long texts that clients choose are counted, and not kept as keys (L1)', () => {
  // What is made at the first time, such as compiled code, is not the cache's.
  fill(createAnswerCache(mebibyte))
  const answers = createAnswerCache(mebibyte)
  const before = bytesInUse()
  fill(answers)
  const grown = bytesInUse() - before
  assert.ok(grown < mebibyte, `${Math.round(grown / 1_024)} KiB`)
})

function fill(answers: AnswerCache): void {
  for (let n = 0; n < 5_000; n += 1) {
    const form = `/${randomBytes(8_000).toString('base64url')}`
    const link = n % 2 === 0 ? undefined : randomBytes(3_000).toString('base64url')
    // Twice, so that it is kept even where there is no room for all.
    const answer: ReadyState = { ...answerOf(Buffer.from(`${n}`), 'identity'), link }
    for (let turn = 0; turn < 2; turn += 1) answers.set(form, answer)
  }
}
