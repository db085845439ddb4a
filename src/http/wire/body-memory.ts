// Memory for bodies that are sent once: reused, since allocating it costs more than filling it.
//
// A body in new memory of 38 kB costs a request 10 to 20 us of processor time, most of it for
// collecting it later; one of 400 kB costs 45 to 200. Memory is reclaimed only when the system has
// taken all of its bytes: late if the client reads slowly, and by the garbage collector if the
// client has left. So no client is ever sent the bytes of another page.

import type { ServerResponse } from 'node:http'

/** Smaller bodies share the pieces of memory that Node makes for small buffers. */
const sizeMin = 4_096
/** Sizes are rounded up to a multiple of these, in bytes: small ones, and others. */
const [step, largeStep] = [16_384, 131_072]
const smallMax = 2 * largeStep
/** Larger bodies are rare, and keep the memory that they get. */
const sizeMax = 8 * largeStep
/**
 * How many of a size are kept for the next bodies, since as many as there are busy connections may
 * be on their way; together at most 17 MB.
 */
const keptMax = (size: number) => Math.max(2, Math.floor(524_288 / size))

const free = new Map<number, Buffer[]>()
/** The memory that is reused. */
const reused = new WeakSet<ArrayBufferLike>()

/** Memory of this number of bytes, which may have bytes of earlier bodies in it. */
export function borrow(bytes: number): Buffer {
  if (bytes < sizeMin) return Buffer.allocUnsafe(bytes)
  if (bytes > sizeMax) return Buffer.allocUnsafeSlow(bytes)
  const unit = bytes > smallMax ? largeStep : step
  const size = Math.ceil(bytes / unit) * unit
  return (free.get(size)?.pop() ?? allocate(size)).subarray(0, bytes)
}

function allocate(size: number): Buffer {
  const memory = Buffer.allocUnsafeSlow(size)
  reused.add(memory.buffer)
  return memory
}

/** Whether other bodies will be written into the memory of this one, once it is given back. */
export function isBorrowed({ buffer }: Buffer): boolean {
  return reused.has(buffer)
}

/** Leaves the memory of a body to the garbage collector, since it is sent several times. */
export function keepForSeveral({ buffer }: Buffer): void {
  reused.delete(buffer)
}

/** Reclaims the memory of a body that nothing reads any longer. */
export function giveBack(body: Buffer): void {
  if (!isBorrowed(body)) return
  const memory = Buffer.from(body.buffer)
  const kept = free.get(memory.length)
  if (kept === undefined) free.set(memory.length, [memory])
  else if (kept.length < keptMax(memory.length)) kept.push(memory)
}

/** Reclaims the memory of a body as soon as its response has been sent completely. */
export function giveBackAfter(response: ServerResponse, body: Buffer): void {
  if (!isBorrowed(body)) return
  const { socket } = response
  response.once('finish', () => {
    // A destroyed socket reports its writes as finished, too, although they may be under way.
    if (socket?.destroyed === false) giveBack(body)
  })
}
