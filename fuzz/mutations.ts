// Raw requests: valid ones with bytes and pieces changed, whether or not the result is valid HTTP.

import { resources } from '../src/resources/index.ts'
import type { Random } from '../src/demo/random.ts'
import { companies } from './server.ts'

/** The maximum number of changes to a request. */
const changesMax = 6

/** Pieces that parsers are known to get wrong. */
const pieces = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', '\n\n', '\r\r\n', '\0', ' ', '\t', '\u000b', '\u00ff', ':'],
  ...['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: xchunked\r\n', 'chunked, identity'],
  ...['Content-Length: 0\r\n', 'Content-Length: 5\r\n', 'Content-Length: 99999999999999999999\r\n'],
  ...['Content-Length: -1\r\n', 'Content-Length: +2\r\n', 'Content-Length: 1, 1\r\n', '0\r\n\r\n'],
  ...['5\r\nhello\r\n', 'ffffffffffffffff\r\n', '5;a=b\r\n', `5;${'x'.repeat(17_000)}\r\n`],
  ...['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 ', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ...['Host: a\r\n', 'Host:\r\n', 'host : a\r\n', 'Expect: 100-continue\r\n', 'Expect: x\r\n'],
  ...['Connection: close\r\n', 'Connection: keep-alive, upgrade\r\n', 'Upgrade: h2c\r\n'],
  ...['Authorization: Bearer x\r\n', ' folded\r\n', '__proto__: x\r\n', ': no name\r\n'],
  ...['GET ', 'HEAD ', 'CONNECT a:1 ', 'OPTIONS * ', 'POST ', 'M-SEARCH ', 'PLAY ', 'PRI ', 'get '],
  ...['%', '%00', '%zz', '%2e%2e/', '%c0%af', '?', '#', '//', '..;/', '\\', '\ufeff'],
  ...['\ud83d\ude00', '?page=1&page=2', '&limit=0', '{"page":', '[[[[[[[[', '"\\u0000"', '1e999'],
  '\x16\x03\x01\x02\x00',
  ...['a'.repeat(300), 'a'.repeat(9_000), 'a: b\r\n'.repeat(120)],
].map((text) => Buffer.from(text))

/** The requests to mutate: valid ones, a failed expectation and an oversized header. */
export function validRequests(key: string): Buffer[] {
  const [first, ...others] = resources.map(
    ({ name }) => `/api/v1/companies/${companies.full}/${name}`,
  )
  const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`
  const json = 'Content-Type: application/json\r\n'
  const plain = `GET ${first} HTTP/1.1\r\n${head}\r\n`
  return [
    plain,
    ...others.map((path) => `GET ${path}?page=2&limit=7 HTTP/1.1\r\n${head}${json}\r\n`),
    `HEAD ${first} HTTP/1.1\r\n${head}\r\n`,
    `GET ${first} HTTP/1.1\r\n${head}${json}Content-Length: 20\r\n\r\n{"page":2,"limit":3}`,
    `GET ${first} HTTP/1.1\r\n${head}${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"pag\r\n5\r\ne":2}\r\n0\r\n\r\n`,
    `GET ${first} HTTP/1.1\r\n${head}${json}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    `GET ${first} HTTP/1.1\r\n${head}Accept-Encoding: zstd, gzip;q=0.5\r\nIf-None-Match: "a", W/"b"\r\n\r\n`,
    `POST ${first} HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nhello`,
    `GET ${first} HTTP/1.1\r\n${head}Expect: x\r\n\r\n`,
    `GET ${first} HTTP/1.1\r\n${head}a: ${'a'.repeat(20_000)}\r\n\r\n`,
    `GET /healthz HTTP/1.0\r\n\r\n`,
    `GET /readyz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: abc\r\n\r\n${plain}`,
    `GET http://localhost${first} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    plain + plain,
  ].map((text) => Buffer.from(text))
}

/** Makes a request from valid ones with up to six changes. */
export function mutate(random: Random, seeds: readonly Buffer[]): Buffer {
  let bytes = random.pick(seeds)
  for (let left = random.integer(0, changesMax); left > 0; left--) {
    bytes = random.pick(changes)(bytes, random, seeds)
  }
  return bytes
}

type Change = (bytes: Buffer, random: Random, seeds: readonly Buffer[]) => Buffer

const flip: Change = (bytes, random) => {
  const changed = Buffer.from(bytes)
  const at = random.integer(0, Math.max(0, changed.length - 1))
  if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << random.integer(0, 7))
  return changed
}

const overwrite: Change = (bytes, random) => {
  const changed = Buffer.from(bytes)
  const at = random.integer(0, Math.max(0, changed.length - 1))
  if (at < changed.length) changed[at] = random.integer(0, 255)
  return changed
}

const remove: Change = (bytes, random) => {
  const [from, to] = range(bytes, random)
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
}

const repeat: Change = (bytes, random) => {
  const [from, to] = range(bytes, random)
  return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
}

const insertPiece: Change = (bytes, random) => {
  const at = random.integer(0, bytes.length)
  return Buffer.concat([bytes.subarray(0, at), random.pick(pieces), bytes.subarray(at)])
}

/** Inserts a piece at the start of a line, where a header field begins. */
const insertLine: Change = (bytes, random) => {
  const ends = [...bytes.toString('latin1').matchAll(/\r\n/g)].map(({ index }) => index + 2)
  const at = ends.length === 0 ? 0 : random.pick(ends)
  return Buffer.concat([bytes.subarray(0, at), random.pick(pieces), bytes.subarray(at)])
}

const cutOff: Change = (bytes, random) => bytes.subarray(0, random.integer(1, bytes.length || 1))

const splice: Change = (bytes, random, seeds) => {
  const other = random.pick(seeds)
  const head = bytes.subarray(0, random.integer(0, bytes.length))
  return Buffer.concat([head, other.subarray(random.integer(0, other.length))])
}

const changes = [flip, overwrite, remove, repeat, insertPiece, insertLine, cutOff, splice]

/** Chooses a range of the bytes, mostly a short one. */
function range(bytes: Buffer, random: Random): [from: number, to: number] {
  const from = random.integer(0, bytes.length)
  const length = random.oneIn(4) ? random.integer(0, bytes.length) : random.integer(0, 12)
  return [from, Math.min(bytes.length, from + length)]
}
