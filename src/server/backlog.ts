// Lines that wait to be written. Their total size is bounded; lines beyond it are dropped and
// counted.

/** The largest backlog, in bytes. */
const backlogBytesMax = 1_048_576
/** After lines were dropped, new ones are accepted once the backlog has shrunk to this. */
const backlogBytesCalm = backlogBytesMax / 2

/** Lines, joined into pieces, in order of arrival. */
export interface Backlog {
  /** Adds a line, or drops and counts it. */
  add(line: string): void
  /** Returns the bytes to write next, the same until they are taken; undefined if none wait. */
  next(): Uint8Array | undefined
  /** Removes this many of the next bytes. */
  take(bytes: number): void
  /** Removes the next piece. */
  skip(): void
  /** Adds a line with the number of dropped lines, if there are any. */
  noteDropped(): void
  /** The number of bytes that wait. */
  bytes(): number
  /** The number of lines dropped so far. */
  dropped: () => number
}

/** Formats the line that takes the place of dropped lines, with their number. */
export type DroppedLine = (count: number) => string

/** @param pieceBytesMax bounds a piece of whole lines; a longer line is a piece of its own. */
export function createBacklog(pieceBytesMax: number, droppedLine: DroppedLine): Backlog {
  const pieces: { text: string; bytes: number }[] = []
  /** The rest of the piece that is being written. */
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
      // After one line is dropped, all are until there is room for many: one gap, not hundreds.
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
