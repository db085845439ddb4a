// A bare Fastify server whose answers all wait: what a request under way takes without Dossier.
//
//   node bench/waiting-server.ts PORT

import fastify from 'fastify'

const app = fastify()
app.get('/healthz', () => 'ok')
app.get('/api/v1/changes', () => new Promise<string>(() => undefined))
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
