// The demonstration registry: deterministic, plausible and valid for import.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  companyCount,
  demoExtracts,
  firstEmptyId,
  longHistoryId,
  longHistoryLength,
  longHistoryListing,
  type Row,
  showcaseId,
} from '../../src/demo/registry.ts'
import { resources } from '../../src/resources/index.ts'

const closed = '2024-11-20'

// Made once: several tests look at the same rows.
const made = new Map<string, readonly Row[]>()

function rowsOf(name: string): readonly Row[] {
  const extract = demoExtracts().find((candidate) => candidate.name === name)
  assert.ok(extract, name)
  const rows = made.get(name) ?? [...extract.rows()]
  made.set(name, rows)
  return rows
}

function digestOf(tables: readonly Iterable<Row>[]): string {
  const hash = createHash('sha256')
  for (const rows of tables) {
    for (const row of rows) hash.update(JSON.stringify(row))
  }
  return hash.digest('hex')
}

function rowsByCompany(rows: readonly Row[]): Map<unknown, Row[]> {
  return Map.groupBy(rows, (row) => row['company_id'])
}

test('the registry is the same bytes every time', () => {
  const extracts = demoExtracts()
  const digest = digestOf(extracts.map(({ rows }) => rows()))
  assert.equal(digest, digestOf(extracts.map(({ name }) => rowsOf(name))))
})

test('nothing is later than the closing day of the registry; the last companies have nothing', () => {
  for (const { name, fields } of resources) {
    const companies = rowsByCompany(rowsOf(name))
    assert.ok((companies.get(showcaseId)?.length ?? 0) > 20)
    for (let id = firstEmptyId; id <= companyCount; id++) assert.ok(!companies.has(id))
    const times = Object.keys(fields).filter((field) => fields[field]?.kind.startsWith('timestamp'))
    for (const row of rowsOf(name)) {
      for (const time of times) {
        const value = row[time] ?? closed
        assert.ok(typeof value === 'string')
        const day = value.slice(0, 10)
        assert.ok(day >= '2005-01-03' && day <= closed, `${time} ${day}`)
      }
    }
  }
})

test('names are in Latin, Cyrillic, Chinese and Arabic script', () => {
  const names = rowsOf('companies').map((row) => String(row['name']))
  const people = rowsOf('employees').map((row) => String(row['name']))
  for (const script of [/\p{sc=Latin}/u, /\p{sc=Cyrillic}/u, /\p{sc=Han}/u, /\p{sc=Arabic}/u]) {
    for (const texts of [names, people]) {
      const share = texts.filter((text) => script.test(text)).length / texts.length
      assert.ok(share > 0.1, `${script.source}: ${share}`)
    }
  }
  assert.ok(people.some((name) => /[\u{10000}-\u{10ffff}]/u.test(name)))
})

test('histories have the expected length and order, and each change continues from the previous one', () => {
  const histories = rowsByCompany(rowsOf(longHistoryListing))
  assert.equal(histories.get(longHistoryId)?.length, longHistoryLength)
  for (const history of histories.values()) {
    const current = new Map<unknown, unknown>()
    let last = ''
    for (const { attr, before, after, date } of history) {
      assert.ok(String(date) >= last)
      last = String(date)
      assert.notEqual(before, after)
      assert.equal(before, current.get(attr) ?? before)
      current.set(attr, after)
    }
  }
})
