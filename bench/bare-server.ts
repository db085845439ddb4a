// The baseline: a bare `node:http` server that sends one response, with the same header fields and
// body bytes as Dossier.
//
//   node bench/bare-server.ts PORT FILE    (FILE: JSON of { headers, body in base64 })

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [port = '', file = ''] = process.argv.slice(2)
const answer = JSON.parse(readFileSync(file, 'utf8')) as {
  headers: Record<string, string>
  body: string
}
const body = Buffer.from(answer.body, 'base64')
createServer((_request, response) => {
  response.writeHead(200, answer.headers)
  response.end(body)
}).listen(Number(port), '127.0.0.1')
