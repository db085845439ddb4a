// Finds an array within a JSON object, such as `features` or `data.items`, without parsing it.

import { OperatorError } from '../config/operator-error.ts'
import { nestingMax } from '../text/nested-json.ts'
import { nearest } from '../text/nearest.ts'

/** The start or end of an array that is in objects only. */
interface ArrayEdge {
  readonly at: number
  /** The names of the members that lead to it, joined with dots. */
  readonly path: string
  readonly isStart: boolean
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const keyBytesMax = 1 << 10
const pathsMax = 20

/** Walks through the bytes of one JSON object, and finds its arrays. */
class ArrayWalk {
  readonly #name: string
  /** The brackets that are open, as the bytes that close them. */
  readonly #closers: number[] = []
  /** The member that each open object is at, outside arrays. */
  readonly #members: string[] = []
  #isInString = false
  #isEscaped = false
  /** The next string, or the current one, is the name of a member. */
  #isKey = false
  #key: number[] = []
  /** The depth of the outermost array; 0 outside arrays. */
  #arrayDepth = 0

  constructor(name: string) {
    this.#name = name
  }

  /** Whether all brackets are closed. */
  get hasEnded(): boolean {
    return this.#closers.length === 0
  }

  /** The edges of arrays in the next bytes. */
  add(chunk: Buffer): ArrayEdge[] {
    const edges: ArrayEdge[] = []
    const edge = (at: number, isStart: boolean) =>
      edges.push({ at, path: this.#members.join('.'), isStart })
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (this.#isInString) this.#addToString(byte)
      else if (byte === quote) this.#isInString = true
      else if (byte === openBracket || byte === openBrace) {
        const isArray = byte === openBracket
        const isOuter = isArray && this.#arrayDepth === 0
        this.#open(isArray ? closeBracket : closeBrace)
        if (isOuter) edge(at, true)
      } else if (byte === closeBracket || byte === closeBrace) {
        const isOuter = this.#closers.length === this.#arrayDepth
        this.#close(byte)
        if (isOuter) edge(at, false)
      } else if (byte === comma) this.#isKey = this.#arrayDepth === 0
      else if (byte > 32 && this.hasEnded) {
        throw new OperatorError(`${this.#name} has content before or after its JSON object`)
      }
    }
    return edges
  }

  #open(closer: number): void {
    this.#closers.push(closer)
    if (this.#closers.length > nestingMax) {
      throw new OperatorError(`${this.#name} is nested deeper than ${nestingMax} levels`)
    }
    if (this.#arrayDepth > 0) return
    if (closer === closeBracket) this.#arrayDepth = this.#closers.length
    else this.#members.push('')
    this.#isKey = closer === closeBrace
  }

  #close(byte: number): void {
    const isOuter = this.#closers.length === this.#arrayDepth
    if (this.#closers.pop() !== byte) {
      throw new OperatorError(`${this.#name} closes its JSON object with the wrong bracket`)
    }
    if (isOuter) this.#arrayDepth = 0
    else if (this.#arrayDepth === 0) this.#members.pop()
  }

  #addToString(byte: number): void {
    if (!this.#isEscaped && byte === quote) return this.#endString()
    this.#isEscaped = !this.#isEscaped && byte === backslash
    if (this.#isKey && this.#key.length < keyBytesMax) this.#key.push(byte)
  }

  #endString(): void {
    this.#isInString = false
    if (!this.#isKey) return
    this.#isKey = false
    this.#members[this.#members.length - 1] = keyText(this.#key)
    this.#key = []
  }
}

function keyText(bytes: readonly number[]): string {
  const text = Buffer.from(bytes).toString()
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return text
  }
}

/** The paths of arrays that a JSON object has at its start, at most 20. */
export function arraysIn(start: Buffer): string[] {
  try {
    const edges = new ArrayWalk('').add(start)
    const paths = edges.filter(({ path, isStart }) => isStart && path !== '')
    return [...new Set(paths.map(({ path }) => path))].slice(0, pathsMax)
  } catch {
    return []
  }
}

/**
 * The bytes of an array in a JSON object, brackets included.
 *
 * @param path the names of the members that lead to it, joined with dots.
 * @throws OperatorError if there is no array there, or two.
 */
export async function* arrayAt(
  name: string,
  path: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const walk = new ArrayWalk(name)
  const paths = new Set<string>()
  let isInside = false
  let isFound = false
  for await (const given of chunks) {
    const isMarked = !isFound && paths.size === 0 && given[0] === 0xef
    const chunk = isMarked ? given.subarray(3) : given
    let start = 0
    for (const edge of walk.add(chunk)) {
      if (paths.size < pathsMax) paths.add(edge.path)
      if (edge.path !== path) continue
      if (edge.isStart && isFound) throw new OperatorError(`${name} has the array ${path} twice`)
      isFound = true
      isInside = edge.isStart
      if (isInside) start = edge.at
      else yield chunk.subarray(start, edge.at + 1)
    }
    if (isInside && start < chunk.length) yield chunk.subarray(start)
  }
  if (!walk.hasEnded) throw new OperatorError(`${name} ends in the middle of its JSON object`)
  if (!isFound) throw noArray(name, path, [...paths])
}

function noArray(name: string, path: string, paths: readonly string[]): OperatorError {
  if (paths.includes('')) {
    return new OperatorError(`${name} is an array itself; leave out --records`)
  }
  const near = nearest(path, paths)
  if (near !== undefined) {
    return new OperatorError(`${name} has no array ${path}; did you mean --records ${near}?`)
  }
  const known = paths.length === 0 ? 'it has no array' : `it has ${paths.join(', ')}`
  return new OperatorError(`${name} has no array ${path}; ${known}`)
}
