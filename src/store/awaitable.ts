/** A value that a store may have at once or have to wait for. */
export type Awaitable<T> = T | Promise<T>
