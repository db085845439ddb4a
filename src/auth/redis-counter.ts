// Counts that several servers share through Redis, so that a key's rate limit covers all of them.

import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, defineScript } from '@redis/client'
import type { Logger } from 'pino'
import type { Counted, SharedCounter } from './counter.ts'

/** How long to wait for an answer of Redis, in milliseconds. */
const answerMs = 250
/** How long to pause after Redis has not answered. */
const pauseMs = 1_000
/** How long a start waits for the connection. */
const connectMs = 2_000
/** The longest pause between two attempts to connect, which a stop may have to wait for. */
const reconnectMsMax = 500
/** How often an idle connection is used, and how long a new one may be silent. */
const pingMs = 2_000
const silenceMsMax = 5_000
/** How many commands may wait for Redis at a time. */
const waitingMax = 20_000

/** Counts a request and starts its window if there is none; a script, since that is atomic. */
const countScript = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
local count = redis.call('incr', KEYS[1])
local left = redis.call('pttl', KEYS[1])
if left < 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { count, left }`,
  parseCommand(parser, key: string, lengthMs: number) {
    parser.pushKey(key)
    parser.push(String(lengthMs))
  },
  transformReply: (reply: unknown) => reply as readonly number[],
})

function createCountingClient(url: string) {
  return createClient({
    url,
    scripts: { count: countScript },
    disableOfflineQueue: true,
    commandsQueueMaxLength: waitingMax,
    pingInterval: pingMs,
    socket: {
      socketTimeout: silenceMsMax,
      reconnectStrategy: (tries) => Math.min(tries * 100, reconnectMsMax),
    },
  })
}

/**
 * Connects to Redis. If that takes too long, the server starts without it and keeps trying.
 *
 * @param url is such as redis://user:password@host:6379/0, or rediss:// for TLS.
 * @param prefix begins the names of all keys that are stored in Redis.
 * @param logger gets a line when Redis becomes unavailable, and when it is available again.
 */
export async function connectSharedWindows(url: string, prefix: string, logger: Logger) {
  const starting = new AbortController()
  const client = createCountingClient(url)
  let isAway = false
  let pausedUntil = 0

  function noteAway(error: unknown): undefined {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    if (!isAway)
      logger.warn({ reason }, 'Redis is unreachable; this server counts rates on its own')
    isAway = true
  }

  function noteBack(): void {
    if (isAway) logger.info('Redis is reachable; rates are shared')
    isAway = false
  }

  async function countOrGiveUp(key: string, lengthMs: number): Promise<Counted | undefined> {
    try {
      const late = sleep(answerMs, [], { ref: false })
      const [count = NaN, leftMs = NaN] = await Promise.race([client.count(key, lengthMs), late])
      // An answer that is not a count must not reach clients: it may not come from Redis.
      const isCount = Number.isSafeInteger(count) && leftMs >= 0 && leftMs <= lengthMs
      if (!isCount) {
        connectAgain()
        throw new Error('no count in time')
      }
      noteBack()
      return { count, leftMs }
    } catch (error) {
      pausedUntil = performance.now() + pauseMs
      return noteAway(error)
    }
  }

  const connect = () => client.connect().then(noteBack, noteAway)

  /** If its host has died, a connection does not close: the system sends again for minutes. */
  function connectAgain(): void {
    client.destroy()
    void connect()
  }

  client.on('error', noteAway)
  // An attempt to connect cannot be ended, and must not delay a stop.
  client.unref()
  void connect().then(() => starting.abort())
  await sleep(connectMs, undefined, { signal: starting.signal }).catch(() => undefined)
  if (!client.isReady) noteAway('no connection yet')
  const count: SharedCounter = (keyId, { quota, seconds }) => {
    if (!client.isReady) return noteAway('no connection')
    if (performance.now() < pausedUntil) return undefined
    return countOrGiveUp(`${prefix}${keyId}:${quota}/${seconds}`, seconds * 1_000)
  }
  return {
    count,
    close(): void {
      if (client.isOpen) client.destroy()
    },
  }
}
