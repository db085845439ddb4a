// What is kept of answers takes the memory that is counted for it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAnswerCache } from '../../src/http/answers/answer-cache.ts'
import type { Ready } from '../../src/http/answers/send.ts'
import { borrow } from '../../src/http/wire/body-memory.ts'
import { type Coding, encode } from '../../src/http/wire/coding.ts'

const mebibyte = 1_048_576

function answerOf(body: Buffer, coding: Coding): Ready {
  return { body, coding, changedAt: 0, tag: '' }
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
