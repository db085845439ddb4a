// Requests and answers between the primary and a worker. The primary keeps whatever all workers
// share (a count, a limit, a sum); workers ask for it over this channel.

/** One end of a channel between two processes; `process` and a cluster's Worker both fit. */
export interface Channel {
  send(message: unknown, done: (error: Error | null) => void): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

/** The handlers of the other side's questions, by topic; answers must survive JSON. */
export type Answers = Readonly<Record<string, (question: unknown) => unknown>>

/** The other side. */
export interface Peer {
  /** @throws Error if the other side fails, has ended, or takes longer than two seconds. */
  ask(topic: string, question?: unknown): Promise<unknown>
}

const timeoutMs = 2_000

type Message =
  | { readonly dossier: 'ask'; readonly id: number; readonly topic: string; question?: unknown }
  | { readonly dossier: 'answer'; readonly id: number; answer?: unknown; error?: string }

interface Pending {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

/** Answers the other side's questions, and returns the other side to ask. */
export function connectPeer(channel: Channel, answers: Answers): Peer {
  const pending = new Map<number, Pending>()
  let lastId = 0

  const send = (message: Message, onError: (error: Error) => void) =>
    channel.send(message, (error) => error && onError(error))

  async function answer(id: number, topic: string, question: unknown): Promise<void> {
    let reply: { answer?: unknown; error?: string }
    try {
      const find = answers[topic]
      if (find === undefined) throw new Error(`${topic} has no handler`)
      reply = { answer: await find(question) }
    } catch (error) {
      reply = { error: String(error) }
    }
    // If the asking process has ended, the answer is not needed.
    send({ dossier: 'answer', id, ...reply }, () => undefined)
  }

  channel.on('message', (received) => {
    if (!isMessage(received)) return
    if (received.dossier === 'ask') void answer(received.id, received.topic, received.question)
    else if (received.error === undefined) pending.get(received.id)?.resolve(received.answer)
    else pending.get(received.id)?.reject(new Error(received.error))
  })
  channel.on('disconnect', () => {
    for (const { reject } of pending.values()) reject(new Error('the other process has ended'))
  })

  return {
    async ask(topic, question) {
      const id = (lastId += 1)
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const timer = setTimeout(() => reject(new Error(`no answer about ${topic}`)), timeoutMs)
      pending.set(id, { resolve, reject })
      send({ dossier: 'ask', id, topic, question }, reject)
      return promise.finally(() => {
        clearTimeout(timer)
        pending.delete(id)
      })
    },
  }
}

function isMessage(received: unknown): received is Message {
  return typeof received === 'object' && received !== null && 'dossier' in received
}
