// Clients that send one request after the other, each on its own connection, and check every
// answer.

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { patienceMs } from './until.ts'

/** The clients stop after this many failures. */
const failuresMax = 200

/** The request and the expected answer. */
export interface Task {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly body: string
  readonly clients: number
  /** Each request on a new connection. */
  readonly isUnkept?: boolean
  /** Pause of each client after an answer, in milliseconds; none by default. */
  readonly pauseMs?: number
  /** A client ends when its connection is closed, as a notified load balancer does. */
  readonly endsWhenClosed?: boolean
}

export type Load = ReturnType<typeof startLoad>

export function startLoad(task: Task) {
  const failures: string[] = []
  let answered = 0
  let closings = 0
  let isOver = false

  async function runClient(): Promise<void> {
    const agent = new Agent({ keepAlive: task.isUnkept !== true, maxSockets: 1 })
    while (!isOver) {
      try {
        const { status, body, isClosing } = await ask(task, agent)
        if (status === 200 && body === task.body) answered += 1
        else failures.push(`status ${status}: ${body.slice(0, 100)}`)
        if (isClosing) closings += 1
        if (isClosing && task.endsWhenClosed === true) break
        if (task.pauseMs !== undefined) await sleep(task.pauseMs)
      } catch (error) {
        failures.push(String(error))
        // A stopped server must not fill the memory or block the test.
        if (failures.length > failuresMax) break
        await sleep(1)
      }
    }
    agent.destroy()
  }

  const clients = Promise.all(Array.from({ length: task.clients }, runClient))
  return {
    /** Requests with the expected answer. */
    answered: () => answered,
    /** Failures, one line for each request. */
    failures,
    /** The number of answers with `Connection: close`. */
    closings: () => closings,
    /** Lets each client finish its request; returns the failures. */
    async stop() {
      isOver = true
      await clients
      return failures
    },
    /** Resolves when all clients have ended by themselves. */
    ended: () => clients,
  }
}

interface Answered {
  readonly status: number
  readonly body: string
  readonly isClosing: boolean
}

function ask({ port, path, key }: Task, agent: Agent): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` }
    const sent = request({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('error', reject)
      response.on('end', () => {
        if (!response.complete) return reject(new Error('the answer was cut off'))
        const isClosing = response.headers.connection === 'close'
        resolve({ status: response.statusCode ?? 0, body, isClosing })
      })
    })
    sent.setTimeout(patienceMs, () => sent.destroy(new Error('there was no answer')))
    sent.on('error', reject)
    sent.end()
  })
}
