// Finds companies by their number in a register, and by words of their name (contract 8.1 to 8.3).

import type { IdentifyingName } from '../inspecting.ts'
import { hasWords } from '../companies/name-words.ts'
import type { CompanyQuery, FoundCompanies, FoundCompany } from '../reading.ts'
import { byCodePoint } from '../record-texts.ts'
import { createPace } from '../serving/pace.ts'
import { inBatches } from '../listing/in-batches.ts'
import { onlyNumber, type RowReader } from './dialect.ts'
import type { Snapshot } from './database.ts'

/** The maximum number of names that a query may match (contract 8.2). */
export const matchesMax = 1_000

/** Searches companies, in one state of the registry. */
export async function findCompanies(
  snapshot: Snapshot,
  query: CompanyQuery,
): Promise<FoundCompanies> {
  const registry = await snapshot.registry()
  const companies = await ('words' in query
    ? findByWords(inSteps(snapshot), query.words)
    : findByNumber(snapshot, query.identifiers, query.jurisdiction))
  return { registry, companies }
}

/** A company, and its name in a register. */
type Named = readonly [id: number, jurisdiction: string, identifier: string]

/** How many identifiers are looked up at once in all jurisdictions, which may be hundreds. */
const identifiersAtOnce = 10

/**
 * The companies with one of the identifiers, in the order of jurisdiction, identifier and id.
 *
 * @param jurisdiction undefined for any.
 */
async function findByNumber(
  snapshot: Snapshot,
  identifiers: readonly string[],
  jurisdiction: string | undefined,
): Promise<FoundCompany[]> {
  const reader = jurisdiction === undefined ? inSteps(snapshot) : snapshot
  const sought = [...new Set(identifiers)].sort(byCodePoint)
  const atOnce = jurisdiction === undefined ? identifiersAtOnce : sought.length
  const found: Named[] = []
  for (const some of inBatches(sought, atOnce)) {
    found.push(...(await readNamed(reader, some, jurisdiction)))
  }
  const byArea = [...Map.groupBy(found, ([, area]) => area)]
  const inOrder = byArea.sort(([a], [b]) => byCodePoint(a, b)).flatMap(([, own]) => own)
  return readNames(reader, inOrder)
}

async function readNames(snapshot: RowReader, found: readonly Named[]): Promise<FoundCompany[]> {
  const companies: FoundCompany[] = []
  for (const some of inBatches(found, namesAtOnce)) {
    const rows = await snapshot.rows<NamedId>(
      namesOf(snapshot),
      some.map(([id]) => id),
    )
    const names = new Map(rows)
    for (const [id, jurisdiction, identifier] of some) {
      companies.push({ id, jurisdiction, identifier, name: names.get(id) ?? null })
    }
  }
  return companies
}

/** The names that belong to a company, in the order given; at most `limit`; one query. */
export async function findNames(
  db: RowReader,
  names: readonly IdentifyingName[],
  limit: number,
): Promise<IdentifyingName[]> {
  // A name may have been cut within a character; such a name matches no company.
  const areas = names.map(([area]) => area.toWellFormed())
  const identifiers = names.map(([, identifier]) => identifier.toWellFormed())
  const found = await readNamed(db, identifiers, areas)
  const known = new Set(found.map(([, ...name]) => JSON.stringify(name)))
  return names.filter((name) => known.has(JSON.stringify(name))).slice(0, limit)
}

/**
 * The companies with one of the identifiers, in their order.
 *
 * @param areas their jurisdictions, or the only one; undefined for any.
 */
async function readNamed(
  db: RowReader,
  identifiers: readonly string[],
  areas: readonly string[] | string | undefined,
): Promise<readonly Named[]> {
  const { table, id } = db.dialect.companyNames
  const isOf =
    typeof areas === 'string'
      ? 'jurisdiction = $2'
      : db.dialect.isOneOf('jurisdiction', '$2', 'text')
  const only = areas === undefined ? '' : `and ${isOf}`
  return db.rows<Named>(
    `select ${id}, jurisdiction, identifier from ${table}
     where ${db.dialect.isOneOf('identifier', '$1', 'text')} ${only} order by identifier`,
    ...[identifiers, ...(areas === undefined ? [] : [areas])],
  )
}

/** Companies by their ids: shorter names first, then by id. */
async function readFound(snapshot: RowReader, found: readonly NamedId[]): Promise<FoundCompany[]> {
  if (found.length === 0) return []
  type Columns = readonly [number, string | null, string | null, string | null]
  const rows = await snapshot.rows<Columns>(
    `select c.id, c.jurisdiction, c.identifier, n.name
     from companies c left join names n on n.company_id = c.id
     where ${snapshot.dialect.isOneOf('c.id', '$1', 'bigint')} order by length(n.name), c.id`,
    found.map(([id]) => id),
  )
  return rows.map(([id, jurisdiction, identifier, name]) => ({
    id,
    jurisdiction,
    identifier,
    name,
  }))
}

/**
 * The companies with all of the words in their name, the last one as the beginning of a word:
 * shorter names first, then by id; undefined if more than `matchesMax` names match.
 *
 * @param words those of `wordsOfQuery`; at least one.
 */
async function findByWords(
  snapshot: RowReader,
  words: readonly string[],
): Promise<FoundCompany[] | undefined> {
  const candidates = await chooseCandidates(snapshot, words)
  if (candidates === undefined) return undefined
  const matching: NamedId[] = []
  const sql = namesOf(snapshot)
  for await (const ids of candidates) {
    for (const some of inBatches(ids, namesAtOnce)) {
      const rows = await snapshot.rows<NamedId>(sql, some)
      for (const row of rows) if (hasWords(row[1], words)) matching.push(row)
      if (matching.length > matchesMax) return undefined
    }
  }
  return readFound(snapshot, matching)
}

/** Reads that let other requests run in between, however many searches there are. */
function inSteps(snapshot: RowReader): RowReader {
  const pace = createPace()
  return {
    dialect: snapshot.dialect,
    async rows(...asked) {
      await pace()
      return snapshot.rows(...asked)
    },
  }
}

/** A company and its name. */
type NamedId = readonly [id: number, name: string]

function namesOf({ dialect }: RowReader): string {
  return `select company_id, name from names where ${dialect.isOneOf('company_id', '$1', 'bigint')}`
}

/** How many names are read and compared at once: well below 1 ms of work. */
const namesAtOnce = 200

/** Ids of companies, each once, in portions. */
type Ids = AsyncIterable<readonly number[]> | Iterable<readonly number[]>

/**
 * The companies that may match: those with a rare word, or else, of those with the beginning or
 * with one of the frequent words, the ones with all other whole words. Undefined if there is only
 * one word, and too many names match.
 */
async function chooseCandidates(
  snapshot: RowReader,
  words: readonly string[],
): Promise<Ids | undefined> {
  const beginning = words.at(-1) ?? ''
  const whole = words.slice(0, -1)
  if (whole.length === 0) {
    const ids = await readBeginning(snapshot, beginning, matchesMax)
    return ids && [ids]
  }
  let rarest = ''
  let first: readonly number[] | undefined
  for (const word of whole) {
    const ids = await readIds(snapshot, word, -1)
    if (first !== undefined && !isRarer(ids, first)) continue
    rarest = word
    first = ids
  }
  if (first !== undefined && first.length < idsAtOnce) return [first]
  const begun = await readIfFew(snapshot, beginning)
  const others = whole.filter((word) => begun !== undefined || word !== rarest)
  const ids = begun === undefined ? readAll(snapshot, rarest) : inBatches(begun, idsAtOnce)
  return others.reduce<Ids>((some, word) => keepWith(snapshot, some, word), ids)
}

/** Judges by the first ids of two words: as many ids of a rarer word reach farther. */
function isRarer(ids: readonly number[], others: readonly number[]): boolean {
  if (ids.length !== others.length) return ids.length < others.length
  return (ids.at(-1) ?? 0) > (others.at(-1) ?? 0)
}

/** How many rows of the index are read at once: well below 1 ms of work. */
const idsAtOnce = 1_000

const idsOfWord = `
  select company_id from words where word = $1 and company_id > $2
  order by company_id limit $3`

/** The ids of a word after one, in ascending order; at most `idsAtOnce`. */
async function readIds(
  snapshot: RowReader,
  word: string,
  after: number,
): Promise<readonly number[]> {
  return (await snapshot.rows<[number]>(idsOfWord, word, after, idsAtOnce)).map(onlyNumber)
}

/** All ids of a word. */
async function* readAll(snapshot: RowReader, word: string): AsyncGenerator<readonly number[]> {
  for (let after = -1; after < Infinity;) {
    const ids = await readIds(snapshot, word, after)
    yield ids
    after = ids.length < idsAtOnce ? Infinity : (ids.at(-1) ?? Infinity)
  }
}

/** The ids that have a word, too: of a frequent word, that costs less than to read their names. */
async function* keepWith(
  snapshot: RowReader,
  candidates: Ids,
  word: string,
): AsyncGenerator<readonly number[]> {
  const isAsked = snapshot.dialect.isOneOf('company_id', '$2', 'bigint')
  const sql = `select company_id from words where word = $1 and ${isAsked}`
  for await (const ids of candidates) {
    yield (await snapshot.rows<[number]>(sql, word, ids)).map(onlyNumber)
  }
}

const rowsOfBeginning = `
  select word, company_id from words
  where (word, company_id) > ($1, $2) and word < $3 order by word, company_id limit $4`

/** No word has a character as high as this. */
const afterAll = '\u{10ffff}'

/** Up to this many ids of words with one beginning are collected in memory. */
const collectedMax = 50_000

const hasManyBegun = `
  select 1 from words where word >= $1 and word < $2 limit 1 offset ${collectedMax}`

/** The ids of all words with a beginning; undefined if there may be more than `collectedMax`. */
async function readIfFew(
  snapshot: RowReader,
  beginning: string,
): Promise<readonly number[] | undefined> {
  // To skip rows takes a tenth of the time that it takes to read them.
  const [one] = await snapshot.rows(hasManyBegun, beginning, beginning + afterAll)
  return one === undefined ? readBeginning(snapshot, beginning, collectedMax) : undefined
}

/** The ids of all words with a beginning; undefined if there are more than `idsMax`. */
async function readBeginning(
  snapshot: RowReader,
  beginning: string,
  idsMax: number,
): Promise<readonly number[] | undefined> {
  const found = new Set<number>()
  for (let [word, id] = [beginning, -1]; ;) {
    const end = beginning + afterAll
    const asked = [word, id, end, idsAtOnce] as const
    const rows = await snapshot.rows<[word: string, id: number]>(rowsOfBeginning, ...asked)
    for (const row of rows) found.add(row[1])
    if (found.size > idsMax) return undefined
    const last = rows.at(-1)
    if (last === undefined || rows.length < idsAtOnce) break
    ;[word, id] = last
  }
  return [...found]
}
