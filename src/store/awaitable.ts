/** A value that a store returns at once, or as a promise. */
export type Awaitable<T> = T | Promise<T>
