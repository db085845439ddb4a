// Directories of several levels, which only listings of some hundred megabytes have.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  buildDirectory,
  decodeDirectory,
  differingLeaves,
  type DirectoryEntry,
  emptyDirectory,
  entriesMax,
  findRange,
  type KnownNode,
  leavesInTurn,
  openDirectory,
} from '../../src/store/listing/directory.ts'

/** A store of nodes, which numbers segments and nodes. */
function createNodes() {
  const nodes = new Map<number, Uint8Array>()
  let last = 0
  const next = () => (last += 1)
  const read = (numbers: readonly number[]) =>
    numbers.map((number) => nodes.get(number) ?? assert.fail(`there is no node ${number}`))
  function build(entries: readonly DirectoryEntry[], known: readonly KnownNode[] = []) {
    const built = buildDirectory(entries, known, next)
    for (const { segment, entries: node } of built.nodes) nodes.set(segment, node)
    return built
  }
  return { next, nodes, read, build }
}

const entryOf = (segment: number): DirectoryEntry => {
  return { segment, records: 1 + (segment % 3), bytes: 100 * segment, largest: segment }
}

/** Where a change begins, as a share of the listing, and how many segments it drops and adds. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  lost: fc.integer({ min: 0, max: 400 }),
  made: fc.integer({ min: 0, max: 400 }),
})

const length = fc.oneof(
  fc.constantFrom(0, 1, entriesMax, entriesMax + 1),
  fc.integer({ min: 0, max: 2_000 }),
  fc.integer({ min: 30_000, max: 40_000 }),
)

test('a directory has its segments in order, whatever is replaced, and keeps its other parts', async () => {
  const changes = fc.array(change, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(length, changes, async (count, all) => {
      const { next, nodes, read, build } = createNodes()
      let entries = Array.from({ length: count }, () => entryOf(next()))
      let { directory } = build(entries)
      for (const { at, lost, made } of all) {
        const former = { entries, directory }
        const from = Math.floor(at * entries.length)
        const fresh = Array.from({ length: made }, () => entryOf(next()))
        entries = entries.toSpliced(from, lost, ...fresh)
        const known = (await openDirectory(directory, read)).nodes
        const built = build(entries, known)
        directory = built.directory
        const levels = 1 + decodeDirectory(directory).level
        assert.ok(built.nodes.length <= levels * (4 + made / 64), `${built.nodes.length} nodes`)
        assert.ok(decodeDirectory(directory).entries.length <= entriesMax)
        const opened = await openDirectory(directory, read)
        assert.deepEqual(opened.leaves, entries)
        const inTurn = await Array.fromAsync(leavesInTurn(decodeDirectory(directory), read))
        assert.deepEqual(inTurn.flat(), entries)
        const differing = await differingLeaves(former.directory, directory, read)
        assert.deepEqual(differing, {
          former: former.entries.slice(from, from + lost),
          present: fresh,
        })
      }
      const whole = await differingLeaves(emptyDirectory, directory, read)
      assert.deepEqual(whole.present, entries)
      assert.ok([...nodes.values()].every((node) => node.length < 16_384))
    }),
    { numRuns: 20 },
  )
})

test('records are found by their positions, at any level', async () => {
  const { next, read, build } = createNodes()
  for (const count of [0, 1, 1_000, 40_000]) {
    const entries = Array.from({ length: count }, () => entryOf(next()))
    const opened = decodeDirectory(build(entries).directory)
    /** The segment of each record. */
    const holders = entries.flatMap(({ segment, records }) => Array<number>(records).fill(segment))
    const total = holders.length
    const anyRange = fc.tuple(fc.nat(total), fc.integer({ min: 1, max: 1_000 }))
    await fc.assert(
      fc.asyncProperty(anyRange, async ([offset, limit]) => {
        const found = await findRange(opened, offset, Math.min(limit, total - offset), read)
        const wanted = [...new Set(holders.slice(offset, offset + limit))]
        assert.deepEqual(
          found.entries.map(({ segment }) => segment),
          wanted,
        )
        if (wanted.length > 0) assert.equal(found.first, holders.indexOf(wanted[0] ?? 0))
      }),
      { numRuns: 100 },
    )
  }
})
