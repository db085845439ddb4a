// The workers of a primary: as many as were asked for, whatever becomes of one.

import cluster, { type Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import { type Answers, connectPeer, type Peer } from './ipc.ts'
import type { Log } from './log.ts'
import type { ErrorOutput } from './server.ts'
import { restartPauseMs } from './restart-pause.ts'

/** The workers that run. */
export interface WorkerPool {
  /** Those that run now. */
  readonly peers: ReadonlyMap<Worker, Peer>
  /** How many have died without having been told to stop. */
  deaths(): number
  /** Is told of each that has gone, before another one takes its place. */
  onGone(listener: (worker: Worker) => void): void
  /**
   * Starts `count` workers, the first one alone: what it cannot do, none can.
   *
   * @returns the URL of the first one, once all listen, or have died and are to be replaced; or
   *   its exit code, and it has said why.
   */
  start(count: number): Promise<string | number>
  /** Tells all to stop; resolves when the last has gone. */
  stop(reason: unknown): Promise<void>
  /** Ends all at once. */
  kill(): void
}

/** How much of what workers say on standard error waits for its reader, in bytes. */
const errorBytesMax = 65_536

/**
 * Makes a pool that replaces those of its workers that die.
 *
 * @param log is for our lines and those of the workers, `stderr` for what else they say.
 * @param answers is what a worker may ask the primary for: all that has to be one for all workers.
 */
export function createWorkerPool(log: Log, stderr: ErrorOutput, answers: Answers = {}): WorkerPool {
  const { logger } = log
  const peers = new Map<Worker, Peer>()
  /** Those that run, and those of whose output something has not been read. */
  const running = new Set<Worker>()
  const listeners: ((worker: Worker) => void)[] = []
  const ended = Promise.withResolvers<undefined>()
  let isReplacing = false
  let isStopping = false
  let deaths = 0
  let pauseMs = 0

  /** Starts one; gives its URL once it listens, or else its exit code. */
  function add(): Promise<string | number> {
    const worker = startWorker(log, stderr)
    running.add(worker)
    worker.process.once('close', () => {
      running.delete(worker)
      if (isStopping && running.size === 0) ended.resolve(undefined)
    })
    const startedAt = performance.now()
    const started = Promise.withResolvers<string | number>()
    const listening = (url: unknown) => started.resolve(String(url))
    peers.set(worker, connectPeer(worker, { ...answers, listening }))
    worker.on('error', (error) =>
      logger.error({ err: error }, 'a message could not be sent to a worker'),
    )
    worker.once('exit', (code: number | null, signal: string | null) => {
      for (const listener of listeners) listener(worker)
      peers.delete(worker)
      started.resolve(code ?? 1)
      if (isStopping || !isReplacing) return
      deaths += 1
      pauseMs = restartPauseMs(performance.now() - startedAt, pauseMs)
      const { pid } = worker.process
      logger.error({ worker: pid, code, signal, restart_in_ms: pauseMs }, 'a worker died')
      setTimeout(() => isStopping || void add(), pauseMs)
    })
    logger.info({ worker: worker.process.pid }, 'a worker started')
    return started.promise
  }

  return {
    peers,
    deaths: () => deaths,
    onGone: (listener) => void listeners.push(listener),
    async start(count) {
      const outcome = await add()
      isReplacing = typeof outcome === 'string'
      // With one alone the port would close where it dies, and "listening" would speak for none.
      if (isReplacing) await Promise.all(Array.from({ length: count - peers.size }, add))
      return outcome
    },
    async stop(reason) {
      isStopping = true
      if (running.size === 0) ended.resolve(undefined)
      // One that does not answer is on its way out, or is killed at the deadline.
      for (const peer of peers.values()) peer.ask('stop', reason).catch(() => undefined)
      await ended.promise
    },
    kill() {
      for (const worker of peers.keys()) worker.process.kill('SIGKILL')
    },
  }
}

/**
 * Starts a worker with output pipes of its own. If it inherited ours, starting it would set them
 * back to blocking mode. Its log lines go to our log, the rest to our standard error.
 */
function startWorker(log: Log, stderr: ErrorOutput): Worker {
  cluster.setupPrimary({ silent: true })
  const worker = cluster.fork()
  const { stdout, stderr: errors } = worker.process
  forwardLines(stdout, log.forward)
  errors?.on('data', (bytes: Buffer) => {
    if (stderr.terminal.writableLength < errorBytesMax) stderr.write(bytes.toString())
  })
  return worker
}

/** Gives each line of a stream, with its line feed, and what stands behind the last one. */
function forwardLines(stream: Readable | null, take: (line: string) => void): void {
  let rest = ''
  stream?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(`${line}\n`)
  })
  stream?.on('end', () => rest !== '' && take(`${rest}\n`))
}
