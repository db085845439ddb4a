// Finds the mapping that `dossier import --map` names, and the folders that it may read.

import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../config/settings.ts'
import { advise } from '../../text/nearest.ts'
import { OperatorError, orExplain } from '../../config/operator-error.ts'
import { isAbsent } from '../../files/absent.ts'

const mappingsFolder = join(import.meta.dirname, '../../../mappings')

/**
 * Finds a mapping. A plain name is that of a ready-made one, even if the current folder has a file
 * of that name; a path, or a name that ends in .sql, is a file.
 *
 * @param target what is imported, for which a ready-made mapping must be.
 */
export function findMapping(word: string | undefined, target: string) {
  if (word === undefined) return { path: undefined, sql: undefined }
  const isFile = isMappingFile(word)
  const path = isFile ? word : join(mappingsFolder, `${word}.sql`)
  if (orExplain(() => isAbsent(path), unreadable(path))) throw noMapping(word, isFile)
  const sql = readText(path)
  const gives = isFile ? undefined : /^-- +dossier import (\w+)/m.exec(sql)?.[1]
  if (gives !== undefined && gives !== target) {
    throw new OperatorError(
      `the mapping ${word} gives ${gives}, not ${target}: dossier import ${gives} … --map ${word}`,
    )
  }
  return { path, sql }
}

/** Whether a mapping is named by its file, rather than a ready-made one by its name. */
const isMappingFile = (word: string) => /[/\\]|\.sql$/i.test(word)

function noMapping(word: string, isFile: boolean): OperatorError {
  const names = readdirSync(mappingsFolder).map((name) => name.replace(/\.sql$/, ''))
  if (existsSync(`${word}.sql`) && !existsSync(word)) {
    const path = isFile ? word : `./${word}`
    return new OperatorError(`there is no mapping ${word}; did you mean ${path}.sql?`)
  }
  const otherwise = isFile ? 'correct its path' : `ready-made: ${names.join(', ')}`
  const ready = advise(word.replace(/\.sql$/i, ''), names, otherwise)
  const isHere = !isFile && existsSync(word)
  const advice = isHere ? `to use the file of that name, write ./${word}` : ready
  return new OperatorError(`there is no mapping ${word}; ${advice}`)
}

const unreadable = (path: string) => (reason: string) =>
  `the mapping ${path} cannot be read: ${reason}`

function readText(path: string): string {
  if (statSync(path).isDirectory()) {
    throw new OperatorError(`the mapping ${path} is a folder; name the .sql file in it`)
  }
  const bytes = orExplain(() => readFileSync(path), unreadable(path))
  if (isUtf8(bytes)) return bytes.toString().replace(/^\uFEFF/, '')
  throw new OperatorError(`the mapping ${path} is not UTF-8; save it as UTF-8`)
}

/** The real paths of the folders that a mapping may read. */
export function findFolders(words: string | undefined, isMapped: boolean): string[] {
  if (words === undefined) return []
  if (!isMapped) throw new UsageError('--map-read needs a mapping: --map')
  return words.split(',').map((word) => {
    if (statSync(word, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new UsageError(`--map-read ${word} is not a folder`)
    }
    return realpathSync(word)
  })
}
