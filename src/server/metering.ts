// Meters the use of keys: requests are counted in memory, and the counts written to a file once a
// minute and at a stop. If they cannot be written, the server keeps serving.

import { setImmediate as turn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { reasonOf } from '../config/operator-error.ts'
import type { Settings } from '../config/settings.ts'
import { createUses, type Uses } from '../auth/uses.ts'
import { openUsageWriter, openUsesOfKeys, usageFile } from '../store/open-store.ts'
import { hourOf, type KeyUses, midnightOf } from '../store/keys.ts'

/** How long to wait for other writers, such as other workers: a stop waits for it twice at most. */
const waitMsMax = 2_000
/** How many counts are written together: about 5 ms of work. */
const rowsAtOnce = 1_000

/** The file for the uses of keys; undefined if they are not counted. */
export function usagePath({ usageDb, db }: Settings): string | undefined {
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
  const writer = openUsageWriter(path, storeId, settings.db)
  const reader = openUsesOfKeys(path, storeId)
  const readUses = createReadUses(reader, uses, { logger, now })
  let isAway = false
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  /** Not at regular times: workers that start together would always wait for each other. */
  function schedule(): void {
    const ms = settings.usageSeconds * 1_000 * (1 - Math.random() / 2)
    timer = setTimeout(() => {
      writing = write().then(schedule)
    }, ms).unref()
  }

  async function write(): Promise<void> {
    const taken = uses.take()
    let done = 0
    try {
      if (writer.isReplaced()) closeReplaced()
      for (; done < taken.length; done += rowsAtOnce) {
        await writer.add(taken.slice(done, done + rowsAtOnce), now(), waitMsMax)
        if (isAway) logger.info('key usage is written again')
        isAway = false
        // Lets requests run in between.
        await turn()
      }
    } catch (error) {
      uses.add(taken.slice(done))
      const reason = reasonOf(error)
      if (!isAway) logger.warn({ reason }, 'key usage cannot be written; the server keeps serving')
      isAway = true
    }
  }

  /** Closes a file that nobody would see any more; later counts are written to a new one. */
  function closeReplaced(): void {
    const message = 'the file of key usage was removed or replaced; it is opened again'
    logger.warn({ file: path }, message)
    writer.close()
    reader.close()
  }

  schedule()
  return {
    count: uses.count,
    readUses,
    /** Writes the remaining counts. */
    async close(): Promise<void> {
      await writing
      clearTimeout(timer)
      await write()
      writer.close()
      reader.close()
    },
  }
}

/** Reads the uses of a key from the file, and adds those that are not in it yet. */
function createReadUses(
  reader: ReturnType<typeof openUsesOfKeys>,
  uses: Pick<Uses, 'ofKey'>,
  { logger, now }: { readonly logger: Logger; readonly now: () => number },
) {
  let isAway = false
  /** @returns undefined if the file cannot be read. */
  return (keyId: number): KeyUses | undefined => {
    try {
      const midnight = midnightOf(hourOf(now()))
      let { today, last30Days } = reader.readUses(keyId, now())
      for (const { hour, requests } of uses.ofKey(keyId)) {
        if (hour >= midnight) today += requests
        last30Days += requests
      }
      isAway = false
      return { today, last30Days }
    } catch (error) {
      // The next request opens the file again.
      reader.close()
      const reason = reasonOf(error)
      if (!isAway) logger.warn({ reason }, 'key usage cannot be read; the server keeps serving')
      isAway = true
      return undefined
    }
  }
}
