// The workers of a primary. A worker that dies is replaced.

import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Answers, connectPeer, type Peer } from './ipc.ts'

export type WorkerPool = ReturnType<typeof createWorkerPool>

/**
 * Creates a pool that replaces workers that die. They write to the same outputs as their primary.
 *
 * @param answers handles the questions of workers about state that all of them share.
 */
export function createWorkerPool(logger: Logger, answers: Answers) {
  const peers = new Map<Worker, Peer>()
  const listeners: ((worker: Worker) => void)[] = []
  const ended = Promise.withResolvers<undefined>()
  let isReplacing = false
  const stopping = new AbortController()
  let deaths = 0

  /** Starts a worker; resolves to its URL once it listens, or to its exit code. */
  function add(): Promise<string | number> {
    const worker = startWorker(logger)
    const started = Promise.withResolvers<string | number>()
    const listening = (url: unknown) => started.resolve(String(url))
    peers.set(worker, connectPeer(worker, { ...answers, listening }))
    const { pid } = worker.process
    worker.process.once('exit', (code: number | null, signal: string | null) => {
      for (const listener of listeners) listener(worker)
      peers.delete(worker)
      started.resolve(code ?? 1)
      if (stopping.signal.aborted && peers.size === 0) ended.resolve(undefined)
      if (stopping.signal.aborted || !isReplacing) return
      if (pid !== undefined) deaths += 1
      logger.error({ worker: pid, code, signal, restart_in_ms: restartMs }, 'a worker died')
      void sleep(restartMs, undefined, { signal: stopping.signal }).then(add, () => undefined)
    })
    if (pid !== undefined) logger.info({ worker: pid }, 'a worker started')
    return started.promise
  }

  return {
    peers: peers as ReadonlyMap<Worker, Peer>,
    /** The number of workers that died unexpectedly. */
    deaths: () => deaths,
    /** Calls the listener for each worker that has ended, before it is replaced. */
    onGone: (listener: (worker: Worker) => void) => void listeners.push(listener),
    /**
     * Starts `count` workers, the first one alone: if it cannot start, none can.
     *
     * @returns the URL of the first worker, once each listens, or has died and will be replaced; or
     *   the exit code of the first one if it could not start, which it has reported.
     */
    async start(count: number): Promise<string | number> {
      const outcome = await add()
      isReplacing = typeof outcome === 'string'
      // Waits for all: with only one worker, its death would close the port after "listening".
      if (isReplacing) await Promise.all(Array.from({ length: count - peers.size }, add))
      return outcome
    },
    /** Stops all workers; resolves when the last has ended. */
    async stop(reason: unknown): Promise<void> {
      stopping.abort()
      if (peers.size === 0) ended.resolve(undefined)
      // A worker that does not answer is already ending, or is killed at the deadline.
      for (const peer of peers.values()) peer.ask('stop', reason).catch(() => undefined)
      await ended.promise
    },
    kill(): void {
      for (const worker of peers.keys()) worker.process.kill('SIGKILL')
    },
  }
}

function startWorker(logger: Logger): Worker {
  const worker = cluster.fork()
  worker.on('error', ({ message: reason }) => {
    const { pid } = worker.process
    const lost = pid === undefined ? 'a worker could not be started' : messageLost
    logger.error({ reason }, lost)
    // Node reports no end where the system has no memory for the process, or no files.
    if (pid === undefined) worker.process.emit('exit', 1, null)
  })
  return worker
}

const messageLost = 'a message could not be sent to a worker'

/** A pause before each new start, so that a fault at every start does not cause load. */
const restartMs = 1_000
