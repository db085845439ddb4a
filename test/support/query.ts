// A thread that queries PostgreSQL while the test's thread is blocked.

import { type MessagePort, workerData } from 'node:worker_threads'
import { type Client, types } from 'pg'
import { openSessions, withConnection } from '../../src/store/postgres/connect.ts'

// As text, the way the embedded store has it.
types.setTypeParser(types.builtins.JSON, String)

const { port, isAnswered } = workerData as { port: MessagePort; isAnswered: Int32Array }

let last = { db: '', sessions: openSessions('postgres://localhost') }

async function ask(db: string, sql: string): Promise<object> {
  if (db !== last.db) {
    await last.sessions.end()
    last = { db, sessions: openSessions(db) }
  }
  try {
    // Several statements have several results; the last one counts.
    const query = async (client: Client) => [await client.query<object>(sql)].flat()
    return { rows: (await withConnection(last.sessions, query)).at(-1)?.rows }
  } catch (error) {
    return { error: String(error) }
  }
}

port.on('message', ({ db, sql }: { db: string; sql: string }) => {
  void ask(db, sql)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((answer) => {
      port.postMessage(answer)
      Atomics.store(isAnswered, 0, 1)
      Atomics.notify(isAnswered, 0)
    })
})
