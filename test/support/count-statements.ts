// Counts the statements that sessions of PostgreSQL send.

import type { TestContext } from 'node:test'
import { Client } from 'pg'

type Query = (this: Client, ...words: unknown[]) => unknown

/** Begins to count; the function that it returns ends that, and returns the count. */
export function countStatements(t: TestContext): () => number {
  let sent = 0
  const query = Reflect.get(Client.prototype, 'query') as Query
  const { mock } = t.mock.method(
    Client.prototype,
    'query',
    function (this: Client, ...words: unknown[]) {
      sent += 1
      return query.apply(this, words)
    },
  )
  return () => {
    mock.restore()
    return sent
  }
}
