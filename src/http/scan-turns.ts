// Schedules scans of listings, searches for names, reads of companies and of changes: a few at a
// time, the keys in turn, and only while a client waits for the result.

import type { HttpReply, HttpRequest } from './wire/exchange.ts'
import type { Awaitable } from '../store/awaitable.ts'
import type { ScanTurns } from '../store/reading.ts'
import { overloaded, unavailable } from './errors.ts'
import { createPlaces } from './places.ts'

export type ScanLimits = Readonly<typeof scanLimits>

export const scanLimits = {
  /** How many scans of long listings, searches and pages of changes run at a time, of each. */
  scansMax: 2,
  /** How many scans of long listings run or wait. */
  scansWaitingMax: 64,
  /** How many scans of short listings run at a time, and how many reads of companies. */
  shortMax: 4,
  /** How many of all others run or wait, of each; most are short. */
  tasksMax: 1_000,
  /** How long a request may wait for a scan; shorter than a silent connection lives. */
  scanMs: 12_000,
}

/**
 * Creates the functions that do work when it is its turn. They throw an ApiError 503 if its key has
 * too much under way, or it takes too long.
 */
export function createTurns(limits: ScanLimits) {
  return {
    /** Reads what may need scans of listings. */
    read: createReadInTurn(limits),
    /** Does what needs a search for names. */
    search: createWorkInTurn(limits, limits.scansMax),
    /** Finds companies by number, and reads one as a whole. */
    companies: createWorkInTurn(limits, limits.shortMax),
    changes: createWorkInTurn(limits, limits.scansMax),
  }
}

function createReadInTurn(limits: ScanLimits) {
  const { scansMax, scansWaitingMax, shortMax, tasksMax, scanMs } = limits
  const beginLong = createLine(scansMax, scansWaitingMax)
  const beginShort = createLine(shortMax, tasksMax)

  return <T>(request: HttpRequest, work: (turns: ScanTurns) => Awaitable<T>): Awaitable<T> => {
    const key = request.key?.id
    let waiting: ReturnType<typeof beginWaiting> | undefined
    const read = work({
      asker: String(key),
      // Made on demand: most requests find their view made already, and are answered immediately.
      get left() {
        waiting ??= beginWaiting(request.reply, scanMs)
        return waiting.left
      },
      async begin(dropped, isLong) {
        dropped.throwIfAborted()
        return (isLong ? beginLong : beginShort)(key, () => dropped)
      },
    })
    return read instanceof Promise ? read.finally(() => waiting?.end()) : read
  }
}

/** @param runningMax how much work is done at a time; all of it is scheduled. */
function createWorkInTurn({ tasksMax, scanMs }: ScanLimits, runningMax: number) {
  const begin = createLine(runningMax, tasksMax)
  return async <T>(request: HttpRequest, work: () => Promise<T>): Promise<T> => {
    let waiting: ReturnType<typeof beginWaiting> | undefined
    const wait = () => (waiting = beginWaiting(request.reply, scanMs)).left
    try {
      const end = await begin(request.key?.id, wait)
      return await work().finally(end)
    } finally {
      waiting?.end()
    }
  }
}

/** A signal that is aborted when a client has left, or has waited too long. */
function beginWaiting(reply: HttpReply, scanMs: number) {
  const left = new AbortController()
  const leave = () => left.abort(unavailable())
  const timer = setTimeout(() => left.abort(overloaded('scans')), scanMs)
  reply.onClosed(leave)
  return {
    left: left.signal,
    end: () => {
      clearTimeout(timer)
      reply.raw.off('close', leave)
    },
  }
}

/**
 * Creates a line in which requests wait, up to `waitingMax` with those that run. A few run at a
 * time; the keys of those that wait take turns.
 *
 * @returns a function that resolves when a request may run, with what to call at its end. It is
 *   given what makes a signal that the request is not waited for, if it cannot run immediately;
 *   then it rejects with the signal's reason.
 */
function createLine(runningMax: number, waitingMax: number) {
  const places = createPlaces('scans', waitingMax)
  const waiting = new Map<number | undefined, Set<() => void>>()
  let running = 0

  function begin(giveBack: () => void): () => void {
    running += 1
    return () => {
      giveBack()
      running -= 1
      admitNext()
    }
  }

  function admitNext(): void {
    const [next] = waiting
    if (next === undefined || running >= runningMax) return
    const [key, own] = next
    const [enter] = own
    // The key moves to the end of the line.
    waiting.delete(key)
    waiting.set(key, own)
    enter?.()
  }

  function leave(key: number | undefined, enter: () => void): void {
    const own = waiting.get(key)
    own?.delete(enter)
    if (own?.size === 0) waiting.delete(key)
  }

  return (key: number | undefined, wait: () => AbortSignal): Awaitable<() => void> => {
    const giveBack = places.take(key)
    if (running < runningMax) return begin(giveBack)
    const signal = wait()
    return new Promise((resolve, reject) => {
      const enter = () => {
        leave(key, enter)
        signal.removeEventListener('abort', refuse)
        resolve(begin(giveBack))
      }
      const refuse = () => {
        leave(key, enter)
        giveBack()
        reject(signal.reason as Error)
      }
      if (signal.aborted) return refuse()
      signal.addEventListener('abort', refuse, { once: true })
      waiting.getOrInsert(key, new Set()).add(enter)
    })
  }
}
