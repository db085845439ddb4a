// The list of what is withheld, in a file of its own.

import { appendFileSync, readFileSync, truncateSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isAbsent } from '../../../files/absent.ts'
import { flush, makeFile } from '../../../files/new-file.ts'
import { orExplain } from '../../../config/operator-error.ts'
import type { ListPlace } from './list.ts'

/**
 * A list in a file, which is created when the first line is added. Lines are added under the write
 * lock of the store.
 *
 * @param mode the permissions of a new file.
 */
export function listFile(path: string, mode: () => number): Omit<ListPlace, 'options'> {
  return {
    name: path,
    read() {
      // One that cannot be looked up is not taken for none.
      const text = explained(() => (isAbsent(path) ? '' : readFileSync(path, 'utf8')))
      return wholeLines(text)
    },
    append: (_db, lines) =>
      explained(() => {
        makeFile(path, mode())
        // An unfinished line, left by a kill, was never part of the list.
        const length = Buffer.byteLength(wholeLines(readFileSync(path, 'utf8')) ?? '')
        const restore = () => change(path, length, '')
        try {
          change(path, length, lines)
        } catch (error) {
          restore()
          throw error
        }
        return restore
      }),
  }
}

function wholeLines(text: string): string | undefined {
  const end = text.lastIndexOf('\n') + 1
  return end === 0 ? undefined : text.slice(0, end)
}

/** Truncates a file, and appends to it; both survive a loss of power. */
function change(path: string, length: number, lines: string): void {
  truncateSync(path, length)
  appendFileSync(path, lines, { flush: true })
  flush(dirname(resolve(path)))
}

function explained<T>(work: () => T): T {
  return orExplain(
    work,
    (reason) =>
      `the list of what is withheld cannot be used (${reason}); check --withheld, free space and ` +
      'the rights of the file and its folder',
  )
}
