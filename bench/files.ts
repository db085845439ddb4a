// The data of the measurements: files of canonical records, and stores made from them by the real
// import. Both are kept between runs, under names that describe them.

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

/** The folder of files and stores. */
export const folder = join(tmpdir(), `dossier-bench-${userInfo().uid}`)

export const dossier = resolve(import.meta.dirname, '../bin/dossier')

/** How the records of a file are distributed over companies. */
export interface Shape {
  readonly resource: 'rights' | 'events'
  readonly records: number
  /** Records in each listing. */
  readonly listing: number
  /** Clustered: a company's records are adjacent; scattered: they are spread over the file. */
  readonly order: 'clustered' | 'scattered'
}

/** The shape of rights, by default as in an extract that is ordered by id. */
export function rightsOf(
  records: number,
  listing: number,
  order: Shape['order'] = 'scattered',
): Shape {
  return { resource: 'rights', records, listing, order }
}

/** The shape of events of one company. */
export function eventsOf(records: number): Shape {
  return { resource: 'events', records, listing: records, order: 'clustered' }
}

function nameOf({ resource, records, listing, order }: Shape): string {
  return `${resource}-${records}-${listing}-${order}`
}

/** A record of about 380 bytes on the wire. */
function right(id: number, company: number): string {
  const day = new Date(Date.UTC(2000, 0, 1 + (id % 8_000))).toISOString()
  return (
    `{"company_id":${company},"id":${id},"jurisdiction":"GB","name":"A mark of the company ${company}` +
    `, of some length","object_type":"trademark","status":"registered","registration_number":` +
    `"UK${String(id).padStart(11, '0')}","registration_date":"${day.slice(0, 19)}Z",` +
    `"application_date":"${day.slice(0, 19)}Z","holders":["Holder of ${company} Limited"],` +
    `"created_at":"${day}","updated_at":"${day}"}\n`
  )
}

const attrs = ['address', 'name', 'status', 'officers', 'capital']

function event(id: number, company: number): string {
  const date = new Date(Date.UTC(2000, 0, 1) + id * 300_000).toISOString().slice(0, 19)
  return (
    `{"company_id":${company},"id":${id},"jurisdiction":"GB","date":"${date}Z",` +
    `"attr":"${attrs[id % attrs.length] ?? ''}","before":"The value number ${id} of some length",` +
    `"after":"The value number ${id + 1} of some length","identifier":"09876543"}\n`
  )
}

/** Writes records `from` to `to` (exclusive) of a shape, unless they exist; returns the path. */
export function makeFile(shape: Shape, from = 0, to = shape.records): string {
  const record = shape.resource === 'rights' ? right : event
  return writeOnce(`${nameOf(shape)}-${from}-${to}.ndjson`, to - from, (line) =>
    record(from + line + 1, companyOf(shape, from + line)),
  )
}

/** The company of a record; 7,919 is prime: neighbours in the file are far apart in the store. */
function companyOf({ records, listing, order }: Shape, n: number): number {
  return 1 + (order === 'clustered' ? Math.floor(n / listing) : (n * 7_919) % (records / listing))
}

/**
 * Writes an extract of companies, unless the file exists; returns its path. In the second extract,
 * one company in a hundred has moved, and half of those are dissolved.
 */
export function makeExtract(companies: number, which: 'first' | 'second'): string {
  return writeOnce(`companies-${companies}-${which}.ndjson`, companies, (n) => {
    const isChanged = which === 'second' && n % 100 === 7
    return (
      `{"jurisdiction":"GB","identifier":"${String(n).padStart(8, '0')}",` +
      `"name":"Company number ${n} Trading Limited",` +
      `"address":"${(n % 500) + (isChanged ? 1 : 0)} Quay Street, Felixstowe",` +
      `"status":"${isChanged && n % 200 === 7 ? 'dissolved' : 'active'}",` +
      `"legal_form":"Private limited company","incorporated":"${1_950 + (n % 70)}-03-14",` +
      `"sic":["${10_000 + (n % 89_999)}","${10_000 + ((n * 7) % 89_999)}"]}\n`
    )
  })
}

/** How many different first words the names of companies have. */
export const firstWords = 20_000
const trades = 'Trading Foods Logistics Software Metals Textiles Print Energy'.split(' ')

/**
 * Companies with the numbers 1, 2, 3 …, and names of four words.
 *
 * @param attribute has the names; if it is `title`, only the first company has a `name`, too.
 */
export function makeCompanies(companies: number, attribute: 'name' | 'title' = 'name'): string {
  return writeOnce(`${attribute}d-${companies}.ndjson`, companies, (n) => {
    const name = `Own${n % firstWords} ${trades[n % trades.length] ?? ''} ${n} Limited`
    return (
      `{"id":${n + 1},"jurisdiction":"GB","identifier":"${n + 1}","${attribute}":"${name}",` +
      `"address":"${n % 500} Quay Street, Felixstowe","status":"active",` +
      `"legal_form":"Private limited company","incorporated":"${1_950 + (n % 70)}-03-14"` +
      (n === 0 && attribute !== 'name' ? ',"name":"Own"}\n' : '}\n')
    )
  })
}

/** Writes the records of a shape with one in a hundred changed; returns the path. */
export function makeChanged(shape: Shape): string {
  return writeOnce(`${nameOf(shape)}-changed.ndjson`, shape.records, (n) => {
    const text = right(n + 1, companyOf(shape, n))
    return n % 100 === 7 ? text.replace('registered', 'expired') : text
  })
}

/** Writes the events of a shape, all changed; returns the path. */
export function makeAllChanged(shape: Shape): string {
  return writeOnce(`${nameOf(shape)}-all-changed.ndjson`, shape.records, (n) =>
    event(n + 1, companyOf(shape, n)).replace('09876543', '19876543'),
  )
}

/** Writes some records of a shape, spread over its listings, all changed; returns the path. */
export function makeFew(shape: Shape, count: number): string {
  // With a divisor of the number of companies, they would all be of a few of them.
  const step = Math.max(1, Math.floor(shape.records / count) - 1)
  return writeOnce(`${nameOf(shape)}-${count}-few.ndjson`, count, (n) =>
    right(n * step + 1, companyOf(shape, n * step)).replace('registered', 'expired'),
  )
}

/** Writes a file of lines, unless it exists; returns its path. */
export function writeOnce(name: string, lines: number, lineOf: (n: number) => string): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  if (existsSync(path)) return path
  const file = openSync(`${path}.part`, 'w')
  let text = ''
  for (let n = 0; n < lines; n++) {
    text += lineOf(n)
    if (text.length < 1 << 20) continue
    writeSync(file, text)
    text = ''
  }
  writeSync(file, text)
  closeSync(file)
  renameSync(`${path}.part`, path)
  return path
}

/** Makes a table with typed columns of the same records, once, for the peer (`peer-server.ts`). */
export function makePeerStore(shape: Shape): string {
  const script = join(import.meta.dirname, 'peer-store.ts')
  return makeOnce(`${nameOf(shape)}-peer`, (db) => {
    execFileSync(process.execPath, [script, makeFile(shape), db])
  })
}

/** Removes a store with its log and index files. */
export function removeStore(db: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(db + ending, { force: true })
}

/** Makes a store, unless one of this name exists; returns its path. */
export function makeOnce(name: string, make: (db: string) => void): string {
  mkdirSync(folder, { recursive: true })
  const db = join(folder, `${name}.db`)
  if (existsSync(db)) return db
  process.stderr.write(`making a store of ${name} …\n`)
  const part = `${db}.part`
  removeStore(part)
  make(part)
  renameSync(part, db)
  removeStore(part)
  return db
}

/** Imports a file into a store, without measuring that. */
export function fill(db: string, target: string, file: string, options: string[] = []): void {
  execFileSync(dossier, ['import', target, file, '--db', db, ...options], { stdio: 'ignore' })
}

/** Makes a store of a shape by the real import, unless it exists, and a key for it. */
export function makeStore(shape: Shape): { db: string; key: string } {
  const db = makeOnce(nameOf(shape), (part) => {
    const file = makeFile(shape)
    fill(part, shape.resource, file)
    if (shape.records > 1_000_000) rmSync(file)
  })
  return { db, key: makeKey(db) }
}

/** A copy of a store of rights in which some have changed since version 1. */
export function makeChangedStore(shape: Shape, changed: number): string {
  return makeOnce(`${nameOf(shape)}-${changed}-changed`, (part) => {
    copyFileSync(makeStore(shape).db, part)
    fill(part, 'rights', makeFew(shape, changed), ['--accept'])
  })
}

/** Makes a key for a store; by default with the scopes that a key has without naming them. */
export function makeKey(db: string, scopes: readonly string[] = []): string {
  const name = `bench-${process.pid}-${Date.now()}`
  const named = scopes.length === 0 ? [] : ['--scopes', scopes.join()]
  const args = ['keys', 'create', '--name', name, '--db', db, ...named]
  return execFileSync(dossier, args).toString().trim()
}
