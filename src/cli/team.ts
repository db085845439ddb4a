// The workers of a primary: as many as were asked for, whatever becomes of one.

import cluster, { type Worker } from 'node:cluster'
import { type Answers, connectPeer, type Peer } from './asking.ts'
import type { Log } from './log.ts'
import { restartPauseMs } from './restart-pause.ts'

/** The workers that run. */
export interface Team {
  /** Those that run now. */
  readonly peers: ReadonlyMap<Worker, Peer>
  /** How many have died without having been told to stop. */
  deaths(): number
  /** Is told of each that has gone, before another one takes its place. */
  onGone(listener: (worker: Worker) => void): void
  /** Tells all to stop; resolves when the last has gone. */
  stop(reason: unknown): Promise<void>
  /** Ends all at once. */
  kill(): void
}

/**
 * Starts workers beside the first one, `count` in all, and replaces those that die.
 *
 * @param answers is what a worker may ask the primary for: all that has to be one for all workers.
 */
export function startTeam(
  first: Worker,
  count: number,
  { logger }: Log,
  answers: Answers = {},
): Team {
  const peers = new Map<Worker, Peer>()
  const listeners: ((worker: Worker) => void)[] = []
  const ended = Promise.withResolvers<undefined>()
  let isStopping = false
  let deaths = 0
  let pauseMs = 0

  function add(worker: Worker): void {
    const startedAt = performance.now()
    peers.set(worker, connectPeer(worker, answers))
    worker.on('error', (error) => logger.error({ err: error }, 'a worker cannot be told anything'))
    worker.once('exit', (code, signal) => {
      for (const listener of listeners) listener(worker)
      peers.delete(worker)
      if (isStopping) {
        if (peers.size === 0) ended.resolve(undefined)
        return
      }
      deaths += 1
      pauseMs = restartPauseMs(performance.now() - startedAt, pauseMs)
      const { pid } = worker.process
      logger.error({ worker: pid, code, signal, restart_in_ms: pauseMs }, 'a worker has died')
      setTimeout(() => isStopping || add(cluster.fork()), pauseMs)
    })
    logger.info({ worker: worker.process.pid }, 'a worker has started')
  }

  add(first)
  while (peers.size < count) add(cluster.fork())
  return {
    peers,
    deaths: () => deaths,
    onGone: (listener) => void listeners.push(listener),
    async stop(reason) {
      isStopping = true
      if (peers.size === 0) ended.resolve(undefined)
      // One that does not answer is on its way out, or is killed at the deadline.
      for (const peer of peers.values()) peer.ask('stop', reason).catch(() => undefined)
      await ended.promise
    },
    kill() {
      for (const worker of peers.keys()) worker.process.kill('SIGKILL')
    },
  }
}
