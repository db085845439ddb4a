/** A value that a store returns at once, or as a promise. */
export type Awaitable<T> = T | Promise<T>

/** Goes on with a value: at once if it is there. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
