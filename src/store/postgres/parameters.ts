// Translates a statement's named parameters (`$name`) into PostgreSQL's numbered ones.

import { escapeLiteral } from 'pg'
import type { Value, Values } from '../sql/database.ts'

const name = /\$([a-z]\w*)/gi

/** The statement and its values, in the driver's form. */
export function bind(sql: string, values: Values): { text: string; values: Value[] } {
  const places = new Map<string, number>()
  const text = sql.replace(name, (_, word: string) => {
    const place = places.get(word) ?? places.size + 1
    places.set(word, place)
    return `$${place}`
  })
  return { text, values: [...places.keys()].map((word) => values[word] ?? null) }
}

/** Inlines the values, because `create table as` cannot have parameters. */
export function writeIn(sql: string, values: Values): string {
  return sql.replace(name, (word, key: string) => {
    const value = values[key]
    return value === undefined ? word : literal(value)
  })
}

/** The cast gives text and null a type; all our text is compared by its bytes (collation "C"). */
function literal(value: Value): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return `(${value === null ? 'null' : escapeLiteral(String(value))}::text collate "C")`
}
