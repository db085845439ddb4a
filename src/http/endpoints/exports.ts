// The endpoints of complete copies: their list, and their files (contract 12.6).

import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { hasScope } from '../../store/keys.ts'
import {
  exportedVersions,
  isInHistory,
  readExport,
  type StoredExport,
} from '../../store/exports/folder.ts'
import { findFile, manifestName } from '../../store/exports/manifest.ts'
import { type ByteRange, parseRange } from '../requests/byte-range.ts'
import { parsePoint } from '../requests/cursors.ts'
import { ApiError, forbidden, notFound, unavailable } from '../errors.ts'
import { fromStore } from '../store-errors.ts'
import { checkNames, readMembers } from '../requests/members.ts'
import { sendState } from '../answers/state-answer.ts'
import { matchesTag, setHead } from '../answers/send.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

const exportsPath = '/api/v1/exports'
const scope = 'exports'
/** How many copies are listed. */
const listedMax = 100

export const exportList: Endpoint = {
  path: exportsPath,
  scope,
  answer: answerList,
}

export const exportManifest: Endpoint = {
  path: `${exportsPath}/{version}/${manifestName}`,
  scope,
  answer: answerManifest,
}

export const exportFile: Endpoint = {
  path: `${exportsPath}/{version}/{file}`,
  scope,
  answer: answerFile,
}

async function answerList(
  request: HttpRequest,
  { store, exportsFolder }: Service,
): Promise<HttpReply> {
  checkNames(await readMembers(request), [])
  const registry = await fromStore(() => store.readRegistry())
  // There is no folder before the first export.
  const versions = await fromStore(() =>
    existsSync(exportsFolder ?? '') ? exportedVersions(exportsFolder ?? '') : [],
  )
  const offered: object[] = []
  for (const version of versions) {
    if (offered.length === listedMax) break
    const copy = await findExport(store, exportsFolder, version)
    if (copy === undefined || (await isWithdrawn(store, copy))) continue
    const { committed_at, cursor, resources } = copy.manifest
    offered.push({
      version,
      committed_at,
      cursor,
      manifest: `${exportsPath}/${version}/${manifestName}`,
      records: resources.reduce((sum, { records }) => sum + records, 0),
      bytes: resources.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0),
    })
  }
  return sendState(request, { text: JSON.stringify({ ok: true, exports: offered }), registry })
}

/** A copy of this registry, and of its history. */
async function findExport(
  store: StoreReader,
  folder: string | undefined,
  version: number,
): Promise<StoredExport | undefined> {
  if (folder === undefined) return undefined
  const copy = await fromStore(() => readExport(folder, version))
  if (copy === undefined || copy.manifest.registry !== store.storeId) return undefined
  const since = parsePoint(copy.manifest.cursor)
  if (since === undefined) return undefined
  return (await fromStore(() => isInHistory(store, since))) ? copy : undefined
}

async function isWithdrawn(store: StoreReader, { withheldState }: StoredExport): Promise<boolean> {
  return (await fromStore(() => store.withheldState())) !== withheldState
}

/**
 * The copy that a path names.
 *
 * @throws ApiError 404 if there is none; 410 if it was withdrawn.
 */
async function namedExport(
  request: HttpRequest,
  { store, exportsFolder }: Service,
): Promise<StoredExport> {
  checkNames(await readMembers(request), [])
  const { version } = request.target.params as { version: string }
  if (!/^[1-9]\d{0,9}$/.test(version)) throw notFound()
  const copy = await findExport(store, exportsFolder, Number(version))
  if (copy === undefined) throw notFound()
  if (await isWithdrawn(store, copy)) {
    const message = `The copy of version ${version} was withdrawn`
    throw new ApiError(410, `${message}; ${exportsPath} lists the available ones`)
  }
  return copy
}

async function answerManifest(request: HttpRequest, service: Service): Promise<HttpReply> {
  const { manifest } = await namedExport(request, service)
  const registry = await fromStore(() => service.store.readRegistry())
  const { version } = manifest
  return sendState(request, { text: JSON.stringify(manifest), registry, version })
}

async function answerFile(request: HttpRequest, service: Service): Promise<HttpReply> {
  const copy = await namedExport(request, service)
  const { file: name } = request.target.params as { file: string }
  const exported = findFile(copy.manifest, name)
  if (exported === undefined) throw notFound()
  if (!hasScope(request.key?.scopes, exported.resource)) throw forbidden()
  const { bytes, sha256 } = exported.file
  const path = join(copy.folder, name)
  checkSize(path, bytes)
  const tag = `"${sha256}"`
  const { headers, reply } = request
  const isMatched = matchesTag(headers['if-none-match'], tag)
  const range = isMatched ? undefined : rangeOf(request, tag, bytes)
  const { version, committed_at: committedAt } = copy.manifest
  const send = isMatched ? undefined : service.beginStream(request)
  const changedAt = new Date(committedAt).getTime()
  setHead(reply, { tag, changedAt }, { dataVersion: version })
    .header('accept-ranges', 'bytes')
    .header('repr-digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`)
  if (send === undefined) return reply.code(304).send()
  const { start, end } = range ?? { start: 0, end: bytes }
  reply
    .header('content-type', contentTypeOf(name))
    .header('content-length', end - start)
    .header('content-disposition', `attachment; filename="${name}"`)
  if (range !== undefined) {
    reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${bytes}`)
  }
  // Losing the store does not end a stream.
  const isGone = () => isWithdrawn(service.store, copy).catch(() => false)
  return send(piecesOf(path, { start, end }, isGone), 'identity')
}

/** @throws ApiError 503 if the file is not the one of the manifest. */
function checkSize(path: string, bytes: number): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size !== bytes) {
    throw unavailable(new Error(`${path} has ${size ?? 'no'} bytes, its manifest says ${bytes}`))
  }
}

/**
 * The range of a file that is asked for; undefined for all of it.
 *
 * @throws ApiError 416 if the file ends before the range.
 */
function rangeOf(
  { headers, method }: HttpRequest,
  tag: string,
  bytes: number,
): ByteRange | undefined {
  const isOtherFile = headers['if-range'] !== undefined && headers['if-range'] !== tag
  // RFC 9110 section 14.2: a range is part of GET alone.
  if (isOtherFile || method === 'HEAD') return undefined
  const range = parseRange(headers.range, bytes)
  if (range !== 'beyond') return range
  const message = `None of the file's ${bytes} bytes is in the range`
  throw new ApiError(416, `${message}; if you have them all, it is complete`, {
    headers: { 'content-range': `bytes */${bytes}` },
  })
}

function contentTypeOf(name: string): string {
  return name.endsWith('.zst') ? 'application/zstd' : 'application/vnd.apache.parquet'
}

const pieceBytes = 262_144

async function* piecesOf(
  path: string,
  { start, end }: ByteRange,
  isGone: () => Promise<boolean>,
): AsyncGenerator<Buffer> {
  const options = { start, end: end - 1, highWaterMark: pieceBytes }
  let left = end - start
  for await (const piece of createReadStream(path, options)) {
    if (await isGone()) throw new Error('the copy was withdrawn')
    left -= (piece as Buffer).length
    yield piece as Buffer
  }
  if (left > 0) throw new Error(`${path} has become shorter while it was sent`)
}
