// Keys: their form, their storage, and when they stop working (contract 2.4).

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { findKeyFaults } from '../../fuzz/keys.ts'
import { hashKey, isWellFormedKey, keyHint, makeKey } from '../../src/auth/key.ts'
import { resources } from '../../src/resources/index.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { failureText, makeApp, pathOf } from '../support/make-app.ts'
import { makeRights } from '../support/rights-store.ts'
import { aboveStores } from '../support/store-at.ts'
import { storeBytes } from '../support/store-state.ts'

const above = { skip: aboveStores }
const refusal = failureText(403, 'Forbidden')
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const { records, path } = makeRights(1)

/** The value of base-62 digits. */
function numberOf(text: string): number {
  return Array.from(text).reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
}

test('100,000 keys are distinct, and their checksums valid (2.4, C18)', above, () => {
  // `npm run fuzz` checks a million.
  assert.deepEqual(findKeyFaults(100_000), [])
  for (let count = 0; count < 1_000; count += 1) {
    const key = makeKey(randomBytes(32))
    assert.equal(numberOf(key.slice(-6)), crc32(key.slice(0, -6)), 'CRC-32 of all before it')
  }
})

test('the key encodes all 256 bits of the secret (2.4)', above, () => {
  const random = randomBytes(32)
  const keys = Array.from({ length: 256 }, (_, bit) =>
    makeKey(random.with(bit >> 3, (random[bit >> 3] ?? 0) ^ (1 << (bit & 7)))).slice(0, -6),
  )
  assert.equal(new Set([...keys, makeKey(random).slice(0, -6)]).size, 257)
  for (const fill of [0, 255]) assert.ok(isWellFormedKey(makeKey(new Uint8Array(32).fill(fill))))
})

test('every single-character typo is refused without a look-up (2.4, C5)', above, () => {
  const key = makeKey(randomBytes(32))
  const letters = `${digits}_- \n`
  for (let at = 0; at < key.length; at += 1) {
    const [before, after] = [key.slice(0, at), key.slice(at + 1)]
    assert.equal(isWellFormedKey(before + after), false, `without character ${at}`)
    for (const letter of letters) {
      if (letter !== key[at]) {
        assert.equal(isWellFormedKey(before + letter + after), false, `${letter} at ${at}`)
      }
      assert.equal(
        isWellFormedKey(before + letter + key.slice(at)),
        false,
        `${letter} before ${at}`,
      )
    }
    const swapped = before + after.slice(0, 1) + key.slice(at, at + 1) + after.slice(1)
    if (swapped !== key) assert.equal(isWellFormedKey(swapped), false, `swapped at ${at}`)
  }
  for (const other of [
    `${key}\n`,
    ` ${key}`,
    key.toUpperCase(),
    key.toLowerCase(),
    '',
    key + key,
  ]) {
    assert.equal(isWellFormedKey(other), false)
  }
})

test('the published pattern finds a leaked key in any text (2.4)', above, () => {
  const key = makeKey(randomBytes(32))
  for (const text of [key, `"${key}"`, `a=${key}&b`, `https://x/${key}/y`, `\u0001${key}\u0002`]) {
    assert.deepEqual(text.match(/dossier_[0-9A-Za-z]{49}/g), [key])
  }
  assert.ok(!keyHint(key).includes(key.slice(12, -4)))
})

test('the store contains the hash of a key, never the key (2.4, C12)', async (t) => {
  const { store, key, ask } = await makeApp(t, { records })
  const other = await store.issueKey({ name: 'other', scopes: ['jobs'] })
  for (const used of [key, other]) await ask(path, { key: used })
  await store.revokeKey('other')
  const bytes = await storeBytes(store.db)
  for (const plain of [key, other]) {
    assert.ok(bytes.includes(Buffer.from(hashKey(plain), 'latin1')), 'these are the right bytes')
    assert.equal(bytes.includes(plain), false)
    // Nor any part of the key longer than the hint.
    assert.equal(bytes.includes(plain.slice(8, 16)), false)
    assert.equal(bytes.includes(plain.slice(20, 28)), false)
    assert.equal(bytes.includes(plain.slice(-8)), false)
  }
})

test('a key expires by the wall clock, to the millisecond, and works until then (2.2, C16)', async (t) => {
  let clock = Date.parse('2030-01-01T00:00:00Z')
  const { ask, store } = await makeApp(t, { records, now: () => clock })
  const expiresAt = clock + 1_000
  const key = await store.issueKey({ name: 'trial', expiresAt })
  for (const [at, status] of [
    [0, 200],
    [999, 200],
    [1_000, 403],
    [1_001, 403],
    [86_400_000, 403],
    [400 * 86_400_000, 403],
    // Setting the clock back extends its life by that time.
    [-3_600_000, 200],
  ] as const) {
    clock = expiresAt - 1_000 + at
    assert.equal((await ask(path, { key })).status, status, `after ${at} ms`)
  }
})

test('setting the clock back does not revive a revoked key (2.2, C16)', async (t) => {
  let clock = Date.parse('2030-01-01T00:00:00Z')
  const { ask, store } = await makeApp(t, { records, now: () => clock })
  const key = await store.issueKey({ name: 'leaving' })
  assert.equal((await ask(path, { key })).status, 200)
  await store.revokeKey('leaving')
  clock -= 3_600_000
  assert.equal((await ask(path, { key })).status, 403)
})

test('a late answer about a key does not admit it for longer (2.2)', async (t) => {
  let clock = Date.parse('2030-01-01T00:00:00Z')
  const read = Promise.withResolvers<undefined>()
  const answered = Promise.withResolvers<undefined>()
  const wrapStore = (store: StoreReader) => ({
    ...store,
    async findKey(hash: Uint8Array) {
      const found = await store.findKey(hash)
      read.resolve(undefined)
      await answered.promise
      return found
    },
  })
  const { ask, store } = await makeApp(t, { records, now: () => clock, wrapStore })
  const key = await store.issueKey({ name: 'leaving' })
  const first = ask(path, { key })
  await read.promise
  await store.revokeKey('leaving')
  clock += 1_000
  answered.resolve(undefined)
  assert.equal((await first).status, 200)
  assert.equal((await ask(path, { key })).status, 403)
})

test('a name may be used again; the old key stays refused (2.2)', async (t) => {
  const { ask, store } = await makeApp(t, { records })
  const old = await store.issueKey({ name: 'client' })
  await assert.rejects(store.issueKey({ name: 'client' }), /a key named client already exists/)
  await store.revokeKey('client')
  const young = await store.issueKey({ name: 'client' })
  assert.equal((await ask(path, { key: old })).text, refusal)
  assert.equal((await ask(path, { key: young })).status, 200)
})

test('every set of scopes grants access to its own listings only (2.2, C14)', async (t) => {
  const { ask, store } = await makeApp(t, { records })
  const names = resources.map(({ name }) => name)
  for (let set = 0; set < 1 << names.length; set += 1) {
    const scopes = names.filter((_, index) => (set >> index) % 2 === 1)
    const key = await store.issueKey({ name: `set-${set}`, scopes })
    for (const resource of resources) {
      const { status, text } = await ask(pathOf(resource, 1), { key })
      assert.equal(status, scopes.includes(resource.name) ? 200 : 403, scopes.join())
      if (status === 403) assert.equal(text, refusal)
    }
  }
})
