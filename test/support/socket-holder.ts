// Stands in for systemd: holds a listening socket, and passes it to one server after the other.
//
//   node test/support/socket-holder.ts TIMES PROGRAM ARGUMENTS…
//
// It accepts no connections: while a server runs, its own event loop is blocked.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

const [times = '', ...command] = process.argv.slice(2)
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const { fd } = (server as unknown as { _handle: { fd: number } })._handle
console.log(`holding ${(server.address() as AddressInfo).port}`)
for (let count = 0; count < Number(times); count += 1) {
  const { status } = spawnSync(
    'sh',
    ['-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"', ...command],
    { stdio: ['ignore', 'inherit', 'inherit', fd] },
  )
  console.log(`ended with ${String(status)}`)
}
process.exit()
