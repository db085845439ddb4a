// The lines that wait to be written. Their total size is bounded; beyond it, lines are dropped and
// counted.

/** The largest backlog, in bytes. */
export const backlogBytesMax = 1_048_576
/** After lines were dropped, new ones are accepted again once the backlog is down to this. */
const backlogBytesCalm = backlogBytesMax / 2

/** Lines in pieces, in the order in which they came. */
export interface Backlog {
  /** Takes a line, or drops and counts it. */
  add(line: string): void
  /** The bytes to be written next, which are the same until they are taken; undefined for none. */
  next(): Uint8Array | undefined
  /** Forgets so many bytes of those that are next. */
  take(bytes: number): void
  /** Forgets the piece that is next. */
  skip(): void
  /** Adds the line that tells how many were dropped, where any were. */
  noteDropped(): void
  /** How many bytes wait. */
  bytes(): number
  /** How many lines have been dropped so far. */
  dropped: () => number
}

/** The line that stands where lines are missing, and says how many. */
export type DroppedLine = (count: number) => string

/** @param pieceBytesMax bounds a piece of whole lines; a longer line is a piece of its own. */
export function createBacklog(pieceBytesMax: number, droppedLine: DroppedLine): Backlog {
  const pieces: { text: string; bytes: number }[] = []
  /** The piece that is being written, as far as it has not been taken. */
  let current: Uint8Array | undefined
  let bytes = 0
  let missing = 0
  let dropped = 0

  function append(line: string, lineBytes: number): void {
    const last = pieces.at(-1)
    if (last !== undefined && last.bytes + lineBytes <= pieceBytesMax) {
      last.text += line
      last.bytes += lineBytes
    } else pieces.push({ text: line, bytes: lineBytes })
    bytes += lineBytes
  }

  function noteDropped(): void {
    if (missing === 0) return
    const line = droppedLine(missing)
    missing = 0
    append(line, Buffer.byteLength(line))
  }

  function take(taken: number): void {
    current = current && taken < current.length ? current.subarray(taken) : undefined
    bytes -= taken
    if (bytes <= backlogBytesCalm) noteDropped()
  }

  return {
    add(line) {
      const lineBytes = Buffer.byteLength(line)
      // After one line is dropped, all are, until there is room for many: one gap, not hundreds.
      if (missing > 0 || bytes + lineBytes > backlogBytesMax) {
        missing += 1
        dropped += 1
      } else append(line, lineBytes)
    },
    next() {
      const piece = current === undefined ? pieces.shift() : undefined
      if (piece !== undefined) current = Buffer.from(piece.text)
      return current
    },
    take,
    skip: () => take(current?.length ?? 0),
    noteDropped,
    bytes: () => bytes,
    dropped: () => dropped,
  }
}
