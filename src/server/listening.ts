// Where a server listens, and why it cannot.

import type { AddressInfo } from 'node:net'
import type { Settings } from '../config.ts'
import { OperatorError } from '../operator-error.ts'
import type { ServerContext } from './server.ts'

/** The URL of a listening server's address, such as `http://127.0.0.1:8080`. */
export function urlOf(bound: AddressInfo | string | null): string {
  if (bound === null || typeof bound === 'string') return String(bound)
  const { address, family, port } = bound
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/**
 * Whether a listener shares its port with those of other processes of this user (SO_REUSEPORT): the
 * kernel deals new connections out among them. Where it does not, a second one is an error.
 */
export function sharing({ reusePort }: Settings): { reusePort?: true } {
  return reusePort ? { reusePort: true } : {}
}

/** What `listen` is told: a socket that was handed to us, or an address. */
export function listenOptions(
  settings: Settings,
  environment: ServerContext['environment'],
): { host: string; port: number; reusePort?: true } | { host: string; fd: number } {
  const { host } = settings
  if (hasHandedSocket(environment)) return { host: '127.0.0.1', fd: handedDescriptor }
  return { host, port: settings.port, ...sharing(settings) }
}

/** The first that systemd hands over (sd_listen_fds(3)). */
const handedDescriptor = 3

/**
 * Whether systemd, or whoever else started us, holds the listening socket and hands it to each
 * server in turn: it stays open from one to the next, and whoever connects meanwhile waits.
 */
export function hasHandedSocket(environment: ServerContext['environment']): boolean {
  return environment['LISTEN_PID'] === String(process.pid) && environment['LISTEN_FDS'] === '1'
}

/** What was to be listened on, and the options that said so. */
interface Wanted {
  readonly host: string
  readonly port: number | undefined
  readonly hostOption?: string
  readonly portOption?: string
}

/** Why an address cannot be listened on, as an OperatorError where that is known; else itself. */
export function explainListenError(error: unknown, wanted: Wanted): unknown {
  const { host, port, hostOption = '--host', portOption = '--port' } = wanted
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'EADDRINUSE':
      return new OperatorError(
        `port ${port} of ${host} is in use; choose another with ${portOption}`,
        {
          cause: error,
        },
      )
    case 'EACCES':
      return new OperatorError(`permission denied to listen on port ${port}; choose one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new OperatorError(`${host} is not an address of this machine; correct ${hostOption}`)
    default:
      return error
  }
}
