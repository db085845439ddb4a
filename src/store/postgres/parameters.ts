// An import's own numbers and words in its statements.

export type Parameters = Readonly<Record<string, string>>

/** Writes them in: a table cannot be made of a statement with parameters. */
export function writeIn(sql: string, parameters: Parameters): string {
  return sql.replace(/\$([a-z]\w*)/gi, (word, name: string) => parameters[name] ?? word)
}
