// A bare server of Node where requests wait, except those that ask for an answer: what a request
// under way takes without Dossier.
//
//   node bench/waiting-server.ts PORT

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  if (request.url !== '/api/v1/changes?') response.end('ok')
})
server.listen(Number(process.argv[2]), '127.0.0.1')
