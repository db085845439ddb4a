// A bare server of Node whose answers all wait: what a request under way takes without Dossier.
//
//   node bench/waiting-server.ts PORT

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  if (request.url === '/healthz') response.end('ok')
})
server.listen(Number(process.argv[2]), '127.0.0.1')
