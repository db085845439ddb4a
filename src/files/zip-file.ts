// Finds the one file that a zip archive contains.

import type { Entry, ZipFile } from 'yauzl'
import { OperatorError, reasonOf } from '../config/operator-error.ts'
import { shellWord } from '../text/shell-word.ts'

/** Where the only file of an archive is, and what it must contain. */
export interface ZipEntry {
  /** Its path in the archive. */
  readonly path: string
  /** The range of its stored bytes in the archive. */
  readonly start: number
  readonly end: number
  readonly isDeflated: boolean
  /** Size and checksum of its content. */
  readonly bytes: number
  readonly crc32: number
}

const [stored, deflated] = [0, 8]
const listedMax = 10

/**
 * Finds the only file in an archive; what macOS adds to archives does not count.
 *
 * @throws OperatorError if it is not a valid archive, is encrypted, or contains no file or several.
 */
export async function findZipEntry(name: string): Promise<ZipEntry> {
  // Loaded only here, because few imports read archives.
  const { openPromise } = await import('yauzl')
  let archive: ZipFile | undefined
  try {
    archive = await openPromise(name, { lazyEntries: true, autoClose: false })
    return await onlyEntry(name, archive)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const reason = reasonOf(error).replace(/\.$/, '')
    throw new OperatorError(
      `${name} is not a valid zip archive: ${reason}; download it again, or decompress it first`,
    )
  } finally {
    archive?.close()
  }
}

async function onlyEntry(name: string, archive: ZipFile): Promise<ZipEntry> {
  const entries: Entry[] = []
  let count = 0
  for await (const entry of archive.eachEntry()) {
    if (/^xl\/workbook\.(?:xml|bin)$/.test(entry.fileName)) throw workbook(name, 'an Excel')
    if (entry.fileName === 'content.xml') throw workbook(name, 'an OpenDocument')
    if (/\/$|^__MACOSX\/|(?:^|\/)\.DS_Store$/.test(entry.fileName)) continue
    count += 1
    if (entries.length < listedMax) entries.push(entry)
  }
  const [entry] = entries
  if (entry === undefined)
    throw new OperatorError(`${name} is a zip archive without a file; get it again`)
  if (count > 1) throw severalFiles(name, entries, count)
  if (entry.isEncrypted()) {
    throw new OperatorError(
      `${name}: ${entry.fileName} is encrypted; decrypt it first: unzip ${shellWord(name)}`,
    )
  }
  const method = entry.compressionMethod
  if (method !== stored && method !== deflated) {
    throw new OperatorError(
      `${name}: ${entry.fileName} has compression method ${method}, which is not supported; ` +
        `decompress it first: 7z x ${shellWord(name)}`,
    )
  }
  const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true })
  return {
    path: entry.fileName,
    start: fileDataStart,
    end: fileDataStart + entry.compressedSize,
    isDeflated: method === deflated,
    bytes: entry.uncompressedSize,
    crc32: entry.crc32,
  }
}

function severalFiles(name: string, entries: readonly Entry[], count: number): OperatorError {
  const paths = entries.map(({ fileName }) => fileName).join(', ')
  const more = count > entries.length ? ' …' : ''
  return new OperatorError(
    `${name} contains ${count} files: ${paths}${more}; unzip it, and import those that you want`,
  )
}

function workbook(name: string, kind: string): OperatorError {
  return new OperatorError(
    `${name} is ${kind} workbook, which is not supported; save its sheet as "CSV UTF-8", or: ` +
      `libreoffice --headless --convert-to csv ${shellWord(name)}`,
  )
}
