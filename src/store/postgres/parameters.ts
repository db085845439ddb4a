// The values of a statement, which names them `$name`: PostgreSQL has numbers for them.

import { escapeLiteral } from 'pg'
import type { Value, Values } from '../sql/database.ts'

const name = /\$([a-z]\w*)/gi

/** The statement and its values as the driver takes them. */
export function bind(sql: string, values: Values): { text: string; values: Value[] } {
  const places = new Map<string, number>()
  const text = sql.replace(name, (_, word: string) => {
    const place = places.get(word) ?? places.size + 1
    places.set(word, place)
    return `$${place}`
  })
  return { text, values: [...places.keys()].map((word) => values[word] ?? null) }
}

/** Writes the values in: a table cannot be made of a statement with parameters. */
export function writeIn(sql: string, values: Values): string {
  return sql.replace(name, (word, key: string) => {
    const value = values[key]
    return value === undefined ? word : literal(value)
  })
}

/** Without its type, a text or null would be of none; all our text is compared by its bytes. */
function literal(value: Value): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return `(${value === null ? 'null' : escapeLiteral(String(value))}::text collate "C")`
}
