// Finds companies by their number in a register, and by words of their name (contract 8.1 to 8.3).

import type { IdentifyingName } from '../inspecting.ts'
import { hasWords } from '../companies/name-words.ts'
import type { CompanyQuery, FoundCompanies, FoundCompany } from '../reading.ts'
import { byCodePoint } from '../record-texts.ts'
import { createPace } from '../serving/pace.ts'
import type { RowReader } from './dialect.ts'
import { type Ids, intersect } from './id-lists.ts'
import { type Chunk, idsOf } from './postings.ts'
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
  const found = new Map<string, Named[]>()
  for (let at = 0; at < sought.length; at += atOnce) {
    for (const named of await readNamed(reader, sought.slice(at, at + atOnce), jurisdiction)) {
      const [, area] = named
      const own = found.get(area)
      if (own === undefined) found.set(area, [named])
      else own.push(named)
    }
  }
  const inOrder = [...found].sort(([a], [b]) => byCodePoint(a, b))
  return readNames(
    reader,
    inOrder.flatMap(([, own]) => own),
  )
}

async function readNames(snapshot: RowReader, found: readonly Named[]): Promise<FoundCompany[]> {
  const companies: FoundCompany[] = []
  for (let at = 0; at < found.length; at += namesAtOnce) {
    const some = found.slice(at, at + namesAtOnce)
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
    for (let at = 0; at < ids.length; at += namesAtOnce) {
      const some = ids.slice(at, at + namesAtOnce)
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

/** How many names are read and compared at once: about 1 ms of work. */
const namesAtOnce = 200

/** Up to this many ids of a word, reading their names costs less than reading another word. */
const fewIds = 500
/** Up to this many ids of words with one beginning are collected in memory. */
const collectedMax = 50_000

/**
 * The companies that may match: those with the rarest word, or else those with all of the words.
 * Undefined if there is only one word, and too many names match.
 */
async function chooseCandidates(
  snapshot: RowReader,
  words: readonly string[],
): Promise<Ids | undefined> {
  const whole = words.slice(0, -1)
  const beginning = words.at(-1) ?? ''
  if (whole.length === 0) {
    const ids = await readBeginning(snapshot, beginning, matchesMax)
    return ids && [ids]
  }
  let rarest: readonly number[] | undefined
  for (const word of whole) {
    const ids = await readIfFew(snapshot, word)
    if (ids !== undefined && ids.length < (rarest?.length ?? Infinity)) rarest = ids
  }
  if (rarest !== undefined) return [rarest]
  const begun = await readBegun(snapshot, beginning)
  const lists = whole.map((word): Ids => readAll(snapshot, word))
  const all = lists.reduce((ids, list) => intersect(ids, [list]))
  return begun === undefined ? all : intersect(all, begun)
}

/** The ids of all words with a beginning; undefined if there are too many words and ids. */
async function readBegun(
  snapshot: RowReader,
  beginning: string,
): Promise<readonly Ids[] | undefined> {
  const end = beginning + afterAll
  const rows = await snapshot.rows<[word: string]>(wordsBegun, beginning, end, fewWords + 1)
  if (rows.length <= fewWords) return rows.map(([word]) => readAll(snapshot, word))
  const ids = await readBeginning(snapshot, beginning, collectedMax)
  return ids && [[ids]]
}

/** Up to this many words with one beginning are read side by side. */
const fewWords = 16

const wordsBegun = 'select distinct word from words where word >= $1 and word < $2 limit $3'

type ChunkRow = readonly [first: number, distances: Uint8Array]

function chunkOf([first, distances]: ChunkRow): Chunk {
  return { first, distances }
}

const chunksOfWord = `
  select first, distances from words where word = $1 and first > $2 order by first limit $3`

/** The ids of a word; undefined if there are more than `fewIds`. */
async function readIfFew(snapshot: RowReader, word: string): Promise<number[] | undefined> {
  // A chunk that is not the last of its word has at least half of the usual bytes.
  const rows = await snapshot.rows<ChunkRow>(chunksOfWord, word, -1, fewChunks + 1)
  if (rows.length > fewChunks) return undefined
  const ids = idsOf(rows.map(chunkOf))
  return ids.length <= fewIds ? ids : undefined
}

const fewChunks = 4

/** How many chunks are read at once: about 1 ms of work. */
const chunksAtOnce = 16

/** All ids of a word. */
async function* readAll(snapshot: RowReader, word: string): AsyncGenerator<readonly number[]> {
  for (let after = -1; ;) {
    const rows = await snapshot.rows<ChunkRow>(chunksOfWord, word, after, chunksAtOnce)
    yield idsOf(rows.map(chunkOf))
    if (rows.length < chunksAtOnce) return
    after = rows.at(-1)?.[0] ?? Infinity
  }
}

type WordChunkRow = readonly [word: string, first: number, distances: Uint8Array]

const chunksOfBeginning = `
  select word, first, distances from words
  where (word, first) > ($1, $2) and word < $3 order by word, first limit $4`

/** No word has a character as high as this. */
const afterAll = '\u{10ffff}'

/** How many chunks of different words are read at once: most have only one id. */
const wordChunksAtOnce = 100

/** The ids of all words with a beginning; undefined if there are more than `idsMax`. */
async function readBeginning(
  snapshot: RowReader,
  beginning: string,
  idsMax: number,
): Promise<number[] | undefined> {
  const found = new Set<number>()
  for (let [word, first] = [beginning, -1]; ;) {
    const end = beginning + afterAll
    const rows = await snapshot.rows<WordChunkRow>(
      ...([chunksOfBeginning, word, first, end, wordChunksAtOnce] as const),
    )
    for (const row of rows) {
      for (const id of idsOf([{ first: row[1], distances: row[2] }])) found.add(id)
      if (found.size > idsMax) return undefined
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < wordChunksAtOnce) break
    ;[word, first] = last
  }
  return [...found].sort((a, b) => a - b)
}
