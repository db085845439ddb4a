// How the uses of keys come from the requests into their file: counted in memory, written once a
// minute and at a stop. Where they cannot be written, serving goes on.

import { setImmediate as turn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Settings, UsageError } from '../config.ts'
import type { Ask } from '../limits/limits-over-ipc.ts'
import { createUses } from '../keys/uses.ts'
import { openUsageWriter, usageFile } from '../store/open-store.ts'
import type { KeyUse, UsageWriter } from '../store/usage.ts'

/** Counts uses, and sees that they are written. */
export interface Metering {
  /** Counts a request of a key; well under a microsecond. */
  readonly count: (keyId: number) => void
  /** Takes over, and writes, what another process of this server has counted. */
  add(uses: readonly KeyUse[]): void
  /** Writes what is left. */
  close(): Promise<void>
}

/** How long requests may wait for another process that writes; at a stop there are none. */
const patienceMs = 100
const lastPatienceMs = 2_000
/** So many counts are written in one go, some 5 ms of work. */
const rowsAtOnce = 1_000

/** The file with the uses of keys; undefined where none are counted. */
export function usagePath({ usageDb, db }: Settings): string | undefined {
  if (usageDb === undefined) return undefined
  if (usageDb === db) {
    throw new UsageError(`--usage-db is ${db}, which is the store; name another file, auto or none`)
  }
  return usageDb === 'auto' ? usageFile(db) : usageDb
}

/** Counts, and writes to the file: a server alone, or the primary for its workers. */
export function startMetering(
  settings: Settings,
  storeId: string,
  logger: Logger,
  now: () => number,
): Metering | undefined {
  const path = usagePath(settings)
  if (path === undefined) return undefined
  const uses = createUses(now)
  let writer: UsageWriter | undefined
  let isAway = false
  let written = Promise.resolve()

  /** Writes after whatever is being written already. */
  function write(patience: number): Promise<void> {
    written = written.then(() => writeAll(path ?? '', patience))
    return written
  }

  async function writeAll(file: string, patience: number): Promise<void> {
    const taken = uses.take()
    let done = 0
    try {
      for (; done < taken.length; done += rowsAtOnce) {
        writer ??= openUsageWriter(file, storeId, settings.db)
        await writer.add(taken.slice(done, done + rowsAtOnce), now(), patience)
        if (isAway) logger.info('key usage is written again')
        isAway = false
        // Requests have their turn.
        await turn()
      }
    } catch (error) {
      uses.add(taken.slice(done))
      await writer?.close()
      writer = undefined
      const reason = error instanceof Error ? error.message : String(error)
      if (!isAway) logger.warn({ reason }, 'key usage cannot be written; the server keeps serving')
      isAway = true
    }
  }

  const timer = every(settings, () => void write(patienceMs))
  return {
    count: uses.count,
    add(others) {
      uses.add(others)
      void write(patienceMs)
    },
    async close() {
      clearInterval(timer)
      await write(lastPatienceMs)
      await writer?.close()
    },
  }
}

/** Counts in a worker, and hands the counts to its primary, which answers with `answerMetering`. */
export function meterThroughPrimary(
  settings: Settings,
  ask: Ask,
  now: () => number,
): Metering | undefined {
  if (usagePath(settings) === undefined) return undefined
  const uses = createUses(now)

  async function hand(): Promise<void> {
    const taken = uses.take()
    // What is sent arrives, unless the primary is dead, and then so are we: sent again where the
    // answer was only late, it would count twice.
    if (taken.length > 0) await ask('usage.add', taken).catch(() => undefined)
  }

  const timer = every(settings, () => void hand())
  return {
    count: uses.count,
    add: (others) => uses.add(others),
    async close() {
      clearInterval(timer)
      await hand()
    },
  }
}

/** What a primary answers workers that lend their counts. */
export function answerMetering(metering: Metering | undefined) {
  return { 'usage.add': (uses: unknown) => metering?.add(uses as readonly KeyUse[]) }
}

function every({ usageSeconds }: Settings, work: () => void): NodeJS.Timeout {
  return setInterval(work, usageSeconds * 1_000).unref()
}
