/** A value that a store returns immediately, or as a promise. */
export type Awaitable<T> = T | Promise<T>

/** Continues with a value: immediately, unless it is a promise. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Does work; if it fails, does something else. */
export function orElse<T>(
  work: () => Awaitable<T>,
  otherwise: (error: unknown) => Promise<T>,
): Awaitable<T> {
  try {
    const result = work()
    return result instanceof Promise ? result.catch(otherwise) : result
  } catch (error) {
    return otherwise(error)
  }
}
