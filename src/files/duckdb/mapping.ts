// Checks a mapping's SQL before any of it runs: it must be one SELECT over the view `source`.

import { nearest } from '../../text/nearest.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { type Database, rowsOf } from './database.ts'
import { explain } from './explain.ts'

/** The maximum length of a mapping, in characters. */
const mappingLengthMax = 1 << 20

// A string, a quoted name, a comment, or one character of SQL text.
const sqlPart = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/|[^]/g

/** Table functions that only compute. */
const pureFunctions = new Set(
  'unnest range generate_series repeat json_each json_tree regexp_split_to_table'.split(' '),
)

/** Table functions that read files. */
const fileFunctions = new Set(
  `read_csv read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto
  read_ndjson read_ndjson_auto read_ndjson_objects read_parquet parquet_scan read_text read_blob
  glob`.split(/\s+/),
)

/**
 * Checks that a text is one SELECT that reads only the view `source` and, if allowed, files.
 * DuckDB's own parser parses it; none of it is run.
 *
 * @returns the SELECT without trailing semicolons and comments, to be embedded in another query.
 * @throws OperatorError if the mapping is invalid or not allowed.
 */
export async function parseMapping(
  database: Database,
  mapping: string,
  mayReadFiles: boolean,
): Promise<string> {
  if (mapping.length > mappingLengthMax) {
    throw new OperatorError(`the mapping is longer than ${mappingLengthMax >> 20} MiB`)
  }
  const select = withoutSemicolon(mapping)
  const serialized = rowsOf(database, 'select json_serialize_sql($1::varchar)', [select])
  const [row] = await serialized.catch((error: unknown) => {
    throw explain(error, [], true)
  })
  const parsed = JSON.parse(String(row?.[0])) as ParsedSql
  if (parsed.error) {
    const why = parsed.error_message ?? ''
    if (/only select/i.test(why)) throw notOneSelect()
    const place = parsed.position === undefined ? '' : lineAt(select, Number(parsed.position))
    throw new OperatorError(`the mapping is not valid SQL: ${why.split('\n')[0] ?? ''}${place}`)
  }
  if (parsed.statements?.length !== 1) throw notOneSelect()
  refuseReading(nodesOf(parsed.statements), mayReadFiles)
  return select
}

/** The result of `json_serialize_sql`: a syntax tree, or an error. */
interface ParsedSql {
  readonly error: boolean
  readonly error_message?: string
  readonly position?: string
  readonly statements?: readonly unknown[]
}

function notOneSelect(): OperatorError {
  return new OperatorError('a mapping must be exactly one SELECT; this one does something else')
}

function lineAt(text: string, position: number): string {
  const before = text.slice(0, position).split('\n')
  return ` in line ${before.length} of the mapping`
}

/**
 * A mapping may end with a semicolon, which must not appear within another query. The added line
 * feed ends a comment in the last line.
 */
function withoutSemicolon(mapping: string): string {
  const parts = mapping.match(sqlPart) ?? []
  const end = parts.findLastIndex((part) => !/^(?:;|\s|--|\/\*)/.test(part))
  if (end < 0) throw new OperatorError('the mapping has no SELECT')
  return `${parts.slice(0, end + 1).join('')}\n`
}

type Node = Readonly<Record<string, unknown>>

/** A query can read tables, table functions and lists of tables. */
function refuseReading(nodes: readonly Node[], mayReadFiles: boolean): void {
  const own = new Set(['source', ...nodes.flatMap(commonTables)])
  for (const node of nodes) {
    if (node['type'] === 'SHOW_REF') throw notOneSelect()
    if (node['type'] === 'TABLE_FUNCTION') refuseFunction(node['function'] as Node, mayReadFiles)
    if (node['type'] !== 'BASE_TABLE') continue
    const name = String(node['table_name'])
    if (url.test(name)) throw noNetwork(name)
    const isFile = /[./]/.test(name)
    if (own.has(name.toLowerCase())) continue
    if (isFile && mayReadFiles) {
      const [, ending = ''] = /\.(csv|tsv|txt|json|jsonl|ndjson)(?:\.gz|\.zst)?$/i.exec(name) ?? []
      if (ending !== '') throw guessed(name, ending)
      continue
    }
    const near = nearest(name, own)
    const advice = isFile
      ? 'to read other files, name their folder with --map-read DIR'
      : `did you mean ${near ?? 'source'}?`
    throw new OperatorError(`the mapping reads ${name} instead of the view source; ${advice}`)
  }
}

function refuseFunction(node: Node, mayReadFiles: boolean): void {
  const name = String(node['function_name']).toLowerCase()
  if (pureFunctions.has(name)) return
  if (!fileFunctions.has(name)) {
    throw new OperatorError(`the mapping calls ${name}(), which is not allowed`)
  }
  const address = url.exec(JSON.stringify(node['children']))?.[0]
  if (address !== undefined) throw noNetwork(address)
  if (mayReadFiles) {
    const given = JSON.stringify(node['children'])
    const hasTypes = /"(?:all_varchar|columns|types|dtypes)"/.test(given)
    const guesses = /^read_(?:csv|(?:nd)?json)(?:_auto)?$/.test(name)
    if (guesses && !hasTypes) throw guessed(fileIn(given), name)
    return
  }
  throw new OperatorError(
    `the mapping calls ${name}(), which reads files; name their folder with --map-read DIR`,
  )
}

const fileIn = (given: string) => /"value":"([^"]{1,200})"/.exec(given)?.[1] ?? 'a file'

/**
 * DuckDB takes 09/08/1960 for the 9th of August, whatever the country, and 1.10 for 1.1; in a text
 * of JSON, 01-02-03 for a day of 2001.
 */
function guessed(name: string, reader: string): OperatorError {
  const [day, read] = /json/i.test(reader)
    ? ['09-08-1960', `read_json('${name}', columns = {code: 'varchar', name: 'varchar'})`]
    : ['09/08/1960', `read_csv('${name}', all_varchar = true)`]
  return new OperatorError(
    `the mapping reads ${name} with types that DuckDB guesses (${day} is the 9th of August); ` +
      `read its texts: ${read}`,
  )
}

const url = /\b[a-z][a-z0-9]{1,9}:\/\/[^"]{0,200}/i

function noNetwork(address: string): OperatorError {
  return new OperatorError(
    `the mapping reads ${address}, but an import has no network; download it first, and name its ` +
      'folder with --map-read DIR',
  )
}

/** The names of a node's common table expressions (`with name as …`). */
function commonTables(node: Node): string[] {
  const map = (node['cte_map'] as Node | undefined)?.['map']
  if (!Array.isArray(map)) return []
  return (map as readonly Node[]).map(({ key }) => String(key).toLowerCase())
}

/** All objects of a tree, without recursion, as it may be deep. */
function nodesOf(tree: unknown): Node[] {
  const nodes: Node[] = []
  const pending: unknown[] = [tree]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) nodes.push(next as Node)
    for (const inner of Object.values(next)) pending.push(inner)
  }
  return nodes
}
