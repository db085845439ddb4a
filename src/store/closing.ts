// What is closed when it is no longer needed: by its user, or at the end of an `await using`.

import type { Awaitable } from './awaitable.ts'

export interface Closable extends AsyncDisposable {
  close(): Awaitable<void>
}

export function closing(close: () => Awaitable<void>): Closable {
  return { close, [Symbol.asyncDispose]: async () => close() }
}
