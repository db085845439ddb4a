// Finds an array that is a JSON text, or is in its object, such as `features` or `data.items`,
// and the places between its elements, without parsing it.

import { OperatorError } from '../../config/operator-error.ts'
import { stringText } from '../../text/member-scan.ts'
import { nestingMax } from '../../text/nested-json.ts'
import { nearest } from '../../text/nearest.ts'
import { shellWord } from '../../text/shell-word.ts'

/** A bracket of an array that is in objects only, or a comma between its elements. */
interface ArrayMark {
  readonly at: number
  /** The names of the members that lead to it, joined with dots; empty for the text itself. */
  readonly path: string
  readonly kind: 'start' | 'comma' | 'end'
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const [tab, newline] = [0x09, 0x0a]
// JSON has no other character up to it outside its strings.
const blankMax = 0x20
const keyBytesMax = 1 << 10
/** How many arrays a message names. */
export const pathsMax = 20

/** What is known between two bytes. */
type Walk = ReturnType<typeof newWalk>

function newWalk(name: string, what: 'array' | 'object', wanted: string | undefined) {
  return {
    name,
    what,
    wanted,
    /** The current member of each open object. */
    members: [] as string[],
    /** The open brackets from the outermost array on, and its path. */
    depth: 0,
    path: '',
    hasEnded: false,
    isInString: false,
    isEscaped: false,
    /** The next string, or the current one, is the name of a member. */
    isKey: false,
    key: [] as number[],
  }
}

/**
 * Walks through consecutive bytes of a JSON text.
 *
 * @param what the kind of the text.
 * @param wanted the path of the array whose commas are marked.
 */
export function createArrayWalk(name: string, what: 'array' | 'object', wanted?: string) {
  const walk = newWalk(name, what, wanted)
  return {
    /**
     * The marks in the next bytes. Line ends within arrays become tabs, so that each element is a
     * line: tabs are as valid between members, and as invalid within strings, as line ends.
     */
    add(chunk: Buffer): ArrayMark[] {
      const marks: ArrayMark[] = []
      for (let at = 0; at < chunk.length;) {
        if (walk.depth > 0) at = passInside(walk, chunk, at, marks)
        else {
          passOutside(walk, chunk[at] ?? 0)
          if (walk.depth > 0) marks.push({ at, path: walk.path, kind: 'start' })
          at += 1
        }
      }
      return marks
    },
    /** @throws OperatorError unless all brackets are closed, and an object has been there. */
    end(): void {
      if (walk.members.length > 0 || walk.depth > 0) {
        throw new OperatorError(`${name} ends in the middle of its JSON ${what}; download it again`)
      }
      if (what === 'object' && !walk.hasEnded) {
        throw new OperatorError(`${name} is empty; download it again`)
      }
    },
  }
}

/** Passes a byte that is in objects only. */
function passOutside(walk: Walk, byte: number): void {
  const { name, what, members } = walk
  if (walk.isInString) addToString(walk, byte)
  else if (byte === openBracket && !walk.hasEnded) {
    walk.depth = 1
    walk.isKey = false
    walk.path = members.join('.')
  } else if (byte === openBrace && !walk.hasEnded) {
    members.push('')
    walk.isKey = true
    if (members.length <= nestingMax) return
    throw new OperatorError(`${name} is nested deeper than ${nestingMax} levels`)
  } else if (byte > blankMax && members.length === 0) {
    const where = what === 'array' ? 'after the end of' : 'before or after'
    const advice = what === 'array' ? '' : '; if each line is a row, import it without --records'
    throw new OperatorError(`${name} has content ${where} its JSON ${what}${advice}`)
  } else if (byte === quote) walk.isInString = true
  else if (byte === closeBrace) {
    members.pop()
    walk.hasEnded = members.length === 0
  } else if (byte === closeBracket) throw wrongBracket(walk)
  else if (byte === comma) walk.isKey = true
}

function addToString(walk: Walk, byte: number): void {
  const { members, key } = walk
  if (walk.isEscaped || byte !== quote) {
    walk.isEscaped = !walk.isEscaped && byte === backslash
    if (walk.isKey && key.length < keyBytesMax) key.push(byte)
    return
  }
  walk.isInString = false
  if (!walk.isKey) return
  walk.isKey = false
  members[members.length - 1] = stringText(Buffer.from(key))
  walk.key = []
}

/** Passes bytes within an array, as most are; returns where the array or the chunk ends. */
function passInside(walk: Walk, chunk: Buffer, start: number, marks: ArrayMark[]): number {
  const { path, members } = walk
  const isWanted = path === walk.wanted
  for (let at = start; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0
    if (byte === newline) chunk[at] = tab
    if (walk.isInString) {
      if (walk.isEscaped) walk.isEscaped = false
      else if (byte === backslash) walk.isEscaped = true
      else if (byte === quote) walk.isInString = false
    } else if (byte === quote) walk.isInString = true
    else if (byte === openBracket || byte === openBrace) walk.depth += 1
    else if (byte === closeBracket || byte === closeBrace) {
      walk.depth -= 1
      if (walk.depth > 0) continue
      if (byte !== closeBracket) throw wrongBracket(walk)
      walk.hasEnded = members.length === 0
      marks.push({ at, path, kind: 'end' })
      return at + 1
    } else if (byte === comma && walk.depth === 1 && isWanted) {
      marks.push({ at, path, kind: 'comma' })
    }
  }
  return chunk.length
}

function wrongBracket({ name, what }: Walk): OperatorError {
  return new OperatorError(`${name} closes its JSON ${what} with the wrong bracket`)
}

/** The paths of arrays that a JSON object has at its start, at most 20. */
export function arraysIn(start: Buffer): string[] {
  try {
    const marks = createArrayWalk('', 'object').add(start)
    const paths = marks.filter(({ path, kind }) => kind === 'start' && path !== '')
    return [...new Set(paths.map(({ path }) => path))].slice(0, pathsMax)
  } catch {
    return []
  }
}

/** @param paths the arrays that exist. */
export function noArray(name: string, path: string, paths: readonly string[]): OperatorError {
  if (paths.includes('')) {
    return new OperatorError(`${name} is an array itself; leave out --records`)
  }
  const near = nearest(path, paths)
  if (near !== undefined) {
    return new OperatorError(
      `${name} has no array ${path}; did you mean --records ${shellWord(near)}?`,
    )
  }
  const known = paths.length === 0 ? 'it has no array' : `it has ${paths.join(', ')}`
  return new OperatorError(`${name} has no array ${path}; ${known}`)
}
