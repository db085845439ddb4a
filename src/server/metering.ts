// Meters the use of keys: requests are counted in memory, and the counts written to a file once a
// minute and at a stop. If they cannot be written, the server keeps serving.

import { setImmediate as turn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Settings, UsageError } from '../config/settings.ts'
import { createUses, type Uses } from '../auth/uses.ts'
import { openUsageWriter, openUsesOfKeys, usageFile } from '../store/open-store.ts'
import { hourOf, type KeyUses, midnightOf } from '../store/keys.ts'

/** How long to wait for another writer: briefly, since requests wait too; longer at a stop. */
const waitMsMax = 100
const lastWaitMsMax = 2_000
/** How many counts are written together: about 5 ms of work. */
const rowsAtOnce = 1_000

/** The file for the uses of keys; undefined if they are not counted. */
export function usagePath({ usageDb, db }: Settings): string | undefined {
  if (usageDb === undefined) return undefined
  if (usageDb === db) {
    throw new UsageError(`--usage-db is ${db}, which is the store; name another file, auto or none`)
  }
  return usageDb === 'auto' ? usageFile(db) : usageDb
}

/** Counts and writes to the file, which each worker of a server does by itself. */
export function startMetering(
  settings: Settings,
  storeId: string,
  logger: Logger,
  now: () => number,
) {
  const path = usagePath(settings)
  if (path === undefined) return undefined
  const uses = createUses(now)
  let writer: ReturnType<typeof openUsageWriter> | undefined
  let isAway = false
  let written = Promise.resolve()

  /** Writes once any earlier write has finished. */
  function write(maxWaitMs: number): Promise<void> {
    written = written.then(() => writeAll(path ?? '', maxWaitMs))
    return written
  }

  async function writeAll(file: string, maxWaitMs: number): Promise<void> {
    if (writer?.isReplaced() === true) closeReplaced(file)
    const taken = uses.take()
    let done = 0
    try {
      for (; done < taken.length; done += rowsAtOnce) {
        writer ??= openUsageWriter(file, storeId, settings.db)
        writer.add(taken.slice(done, done + rowsAtOnce), now(), maxWaitMs)
        if (isAway) logger.info('key usage is written again')
        isAway = false
        // Lets requests run in between.
        await turn()
      }
    } catch (error) {
      uses.add(taken.slice(done))
      writer?.close()
      writer = undefined
      const reason = error instanceof Error ? error.message : String(error)
      if (!isAway) logger.warn({ reason }, 'key usage cannot be written; the server keeps serving')
      isAway = true
    }
  }

  /** Closes a file that nobody would see any more; later counts are written to a new one. */
  function closeReplaced(file: string): void {
    logger.warn({ file }, 'the file of key usage was removed or replaced; it is opened again')
    writer?.close()
    writer = undefined
    reading.close()
  }

  const reading = createReading({ path, storeId, logger, now }, uses)
  const timer = setInterval(() => void write(waitMsMax), settings.usageSeconds * 1_000).unref()
  return {
    count: uses.count,
    readUses: reading.readUses,
    /** Writes the remaining counts. */
    async close(): Promise<void> {
      clearInterval(timer)
      await write(lastWaitMsMax)
      writer?.close()
      reading.close()
    },
  }
}

/** What the reading of uses needs. */
interface ReadingOptions {
  readonly path: string
  readonly storeId: string
  readonly logger: Logger
  readonly now: () => number
}

/** Reads uses from the file, and adds those that are not in it yet. */
function createReading({ path, storeId, logger, now }: ReadingOptions, uses: Pick<Uses, 'ofKey'>) {
  const reader = openUsesOfKeys(path, storeId)
  let isAway = false
  return {
    /**
     * The uses of a key: those in the file, and those that this process has not written yet.
     * Undefined if the file cannot be read.
     */
    readUses: (keyId: number): KeyUses | undefined => {
      try {
        const midnight = midnightOf(hourOf(now()))
        const recorded = reader.readUses(keyId, now())
        isAway = false
        return uses.ofKey(keyId).reduce(
          ({ today, last30Days }, { hour, requests }) => ({
            today: today + (hour >= midnight ? requests : 0),
            last30Days: last30Days + requests,
          }),
          recorded,
        )
      } catch (error) {
        // The next request opens the file again.
        reader.close()
        const reason = error instanceof Error ? error.message : String(error)
        if (!isAway) logger.warn({ reason }, 'key usage cannot be read; the server keeps serving')
        isAway = true
        return undefined
      }
    },
    close: reader.close,
  }
}
