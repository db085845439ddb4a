// The load generator, a separate process: keep-alive connections that send each request when the
// response to the last one is complete. It uses raw sockets, because an HTTP client would be the
// bottleneck. It prints a line of JSON.
//
//   node bench/load.ts PORT SECONDS CONNECTIONS KEY PATH COMPANIES CODING
//
// {} in PATH becomes a random company from 1 to COMPANIES.

import { connect, type Socket } from 'node:net'

const [port = '', seconds = '', connections = '', key = '', path = '', companies = '1', coding] =
  process.argv.slice(2)

let state = 42
/** A linear congruential generator, so that every run requests the same companies. */
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 4_294_967_296) * below)
}

function request(): string {
  const target = path.replace('{}', String(1 + random(Number(companies))))
  return (
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nAccept-Encoding: ${coding ?? 'identity'}\r\n\r\n`
  )
}

const latenciesUs: number[] = []
let isDone = false

function run(socket: Socket): void {
  let left = 0
  let sentAt = process.hrtime.bigint()
  const send = () => {
    sentAt = process.hrtime.bigint()
    socket.write(request())
  }
  socket.on('data', (chunk: Buffer) => {
    if (left === 0) {
      const end = chunk.indexOf('\r\n\r\n')
      const head = chunk.toString('latin1', 0, end)
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      if (!head.startsWith('HTTP/1.1 200') || length === undefined) {
        throw new Error(`unexpected answer: ${head.slice(0, 200)}`)
      }
      left = Number(length) + end + 4
    }
    left -= chunk.length
    if (left > 0) return
    latenciesUs.push(Number(process.hrtime.bigint() - sentAt) / 1_000)
    if (!isDone) send()
  })
  send()
}

const sockets = Array.from({ length: Number(connections) }, () =>
  connect({ port: Number(port), host: '127.0.0.1', noDelay: true }),
)
const startedAt = process.hrtime.bigint()
for (const socket of sockets) socket.on('connect', () => run(socket))
setTimeout(
  () => {
    isDone = true
    const elapsed = Number(process.hrtime.bigint() - startedAt) / 1e9
    latenciesUs.sort((a, b) => a - b)
    const at = (share: number) =>
      Math.round(latenciesUs[Math.floor(latenciesUs.length * share)] ?? 0)
    const perSecond = latenciesUs.length / elapsed
    console.log(JSON.stringify({ perSecond, p50Us: at(0.5), p99Us: at(0.99) }))
    for (const socket of sockets) socket.destroy()
  },
  Number(seconds) * 1_000,
)
