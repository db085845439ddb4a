// The baseline of streams: a bare `node:http` server that pipes a file.
//
//   node bench/file-server.ts PORT FILE

import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'

const [port = '', file = ''] = process.argv.slice(2)
createServer((request, response) => {
  if (request.url === '/healthz') response.end()
  else createReadStream(file).pipe(response)
}).listen(Number(port), '127.0.0.1')
