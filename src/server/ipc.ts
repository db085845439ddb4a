// Requests and answers between the primary and a worker. The primary keeps whatever all workers
// share (a count, a limit, a sum); workers ask for it over this channel.

/** One end of a channel between two processes; `process` and a cluster's Worker both fit. */
export interface Channel {
  send(message: Message, done: (error: Error | null) => void): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
}

/** The handlers of the other side's questions, by topic; answers must survive JSON. */
export type Answers = Readonly<Record<string, (question: unknown) => unknown>>

/** The other side. */
export type Peer = ReturnType<typeof connectPeer>

const timeoutMs = 2_000

/** Messages between other code of the two processes have none of these members. */
type Message =
  | { readonly asking: number; readonly topic: string; readonly question: unknown }
  | { readonly answering: number; readonly answer?: unknown; readonly error?: string }

/** Answers the other side's questions, and returns the other side to ask. */
export function connectPeer(channel: Channel, answers: Answers) {
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0

  function answer(answering: number, topic: string, question: unknown): void {
    // If the asking process has ended, the answer is not needed.
    const send = (reply: object) => channel.send({ answering, ...reply }, () => undefined)
    Promise.try(() => answers[topic]?.(question)).then(
      (found) => send({ answer: found }),
      (error: unknown) => send({ error: String(error) }),
    )
  }

  channel.on('message', (received) => {
    const message = received as Message
    if ('asking' in message) answer(message.asking, message.topic, message.question)
    else if ('answering' in message) {
      const asked = pending.get(message.answering)
      if (message.error === undefined) asked?.resolve(message.answer)
      else asked?.reject(new Error(message.error))
    }
  })
  channel.on('disconnect', () => {
    for (const { reject } of pending.values()) reject(new Error('the other process has ended'))
  })

  return {
    /** @throws Error if the other side fails, has ended, or takes longer than two seconds. */
    ask(topic: string, question?: unknown): Promise<unknown> {
      const id = (lastId += 1)
      const asked = Promise.withResolvers<unknown>()
      const refuse = (reason: string) => asked.reject(new Error(reason))
      const timer = setTimeout(refuse, timeoutMs, `no answer about ${topic}`)
      pending.set(id, asked)
      channel.send({ asking: id, topic, question }, (error) => error && asked.reject(error))
      return asked.promise.finally(() => {
        clearTimeout(timer)
        pending.delete(id)
      })
    },
  }
}
