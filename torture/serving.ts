// A real server on a store, and the pages that it answers.

import { type Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../src/resources/index.ts'
import type { Seen } from './answers.ts'
import { mustRun, type Running, startDossier } from './processes.ts'

/** A running server, and a key for it. */
export interface Served {
  readonly port: number
  readonly key: string
  /** Kills it; returns its log. */
  stop(): Promise<string>
}

/**
 * Starts a server on a store, with options besides `--db` and `--port`.
 *
 * @param known a key of the store; by default, one is created.
 */
export async function serve(
  db: string,
  options: readonly string[],
  known?: string,
): Promise<Served> {
  const key = known ?? (await createKey(db))
  const server = startDossier([
    ...['serve', '--db', db, '--port', '0', '--log-format', 'json'],
    ...options,
  ])
  const kill = () => server.child.kill('SIGKILL')
  process.once('exit', kill)
  const stop = async () => {
    process.off('exit', kill)
    kill()
    const { out, err } = await server.ended
    return out + err
  }
  try {
    return { port: await portOf(server), key, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Creates a key that may read everything. */
async function createKey(db: string): Promise<string> {
  const scopes = [...resources.map(({ name }) => name), 'companies', 'changes', 'exports'].join(',')
  const create = ['keys', 'create', '--name', 'reader', '--scopes', scopes, '--db', db]
  return (await mustRun(create)).out.trim()
}

async function portOf({ child, ended }: Running): Promise<number> {
  let output = ''
  child.stdout?.on('data', (text: string) => (output += text))
  child.stderr?.on('data', (text: string) => (output += text))
  for (let waitedMs = 0; waitedMs < 20_000; waitedMs += 20) {
    const port = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(output)?.[1]
    if (port !== undefined) return Number(port)
    await Promise.race([sleep(20), ended])
  }
  throw new Error(`no server: ${output}`)
}

/** A request for a page. */
interface Question {
  readonly agent: Agent
  readonly path: string
  /** Sent as `If-None-Match`. */
  readonly tag: string | undefined
}

export function fetchPage({ port, key }: Served, { path, agent, tag }: Question): Promise<Seen> {
  const condition = tag === undefined ? {} : { 'if-none-match': tag }
  const headers = { authorization: `Bearer ${key}`, ...condition }
  return new Promise((done, fail) => {
    const asked = get({ host: '127.0.0.1', port, path, agent, headers }, (answer) => {
      readAnswer(answer).then(done, fail)
    })
    asked.once('error', fail)
  })
}

async function readAnswer(answer: IncomingMessage): Promise<Seen> {
  let body = ''
  answer.setEncoding('utf8')
  for await (const text of answer) body += String(text)
  return { status: answer.statusCode ?? 0, headers: answer.headers, body }
}
