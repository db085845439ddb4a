// A thread that queries PostgreSQL while the test's thread is blocked.

import { type MessagePort, workerData } from 'node:worker_threads'
import { type Client, types } from 'pg'
import { createSessions } from '../../src/store/postgres/connect.ts'

// As text, the way the embedded store has it.
types.setTypeParser(types.builtins.JSON, String)

const { port, isAnswered } = workerData as { port: MessagePort; isAnswered: Int32Array }

let last = { db: '', sessions: createSessions('', {}) }

async function ask(db: string, sql: string): Promise<object> {
  if (db !== last.db) {
    await last.sessions.close()
    last = { db, sessions: createSessions(db, {}) }
  }
  try {
    // Several statements have several results; the last one counts.
    const query = async (client: Client) => [await client.query<object>(sql)].flat()
    return { rows: (await last.sessions.use(query)).at(-1)?.rows }
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
