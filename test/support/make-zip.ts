// Zip archives for tests.

import { crc32, deflateRawSync } from 'node:zlib'

/** A file in an archive, with the faults that it shall have. */
export interface ZippedFile {
  readonly path: string
  readonly bytes: Buffer
  /** 0 for stored, 8 for deflated (the default). */
  readonly method?: number
  readonly isEncrypted?: boolean
  /** The checksum that the archive gives; by default the right one. */
  readonly checksum?: number
  /** The size that the archive gives; by default the right one. */
  readonly size?: number
}

export function makeZip(files: readonly ZippedFile[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const file of files) {
    const { path, bytes, method = 8 } = file
    const data = method === 8 ? deflateRawSync(bytes) : bytes
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(file.isEncrypted === true ? 1 : 0, 2)
    fields.writeUInt16LE(method, 4)
    fields.writeUInt32LE(file.checksum ?? crc32(bytes), 10)
    fields.writeUInt32LE(data.length, 14)
    fields.writeUInt32LE(file.size ?? bytes.length, 18)
    fields.writeUInt16LE(Buffer.byteLength(path), 22)
    const name = Buffer.from(path)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, name, data])
    const end = Buffer.alloc(14)
    end.writeUInt32LE(offset, 10)
    parts.push(local)
    directory.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), fields, end, name)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, entries, Buffer.from('PK\x05\x06', 'latin1'), end])
}
