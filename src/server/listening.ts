// The address that a server listens on, and why it may fail to.

import type { Settings } from '../config/settings.ts'
import { OperatorError, systemCode } from '../config/operator-error.ts'
import type { ServerContext } from './server.ts'

/**
 * The listen option for a port that other processes of this user share (SO_REUSEPORT): the kernel
 * distributes new connections among them. Without it, a second listener is an error.
 */
export function sharing({ reusePort }: Settings): { reusePort?: true } {
  return reusePort ? { reusePort: true } : {}
}

/** The options of `listen`: a socket that systemd has passed, or an address. */
export function listenOptions(
  settings: Settings,
  environment: ServerContext['environment'],
): { host: string; port: number; reusePort?: true } | { host: string; fd: number } {
  const { host } = settings
  if (hasHandedSocket(environment)) return { host: '127.0.0.1', fd: handedDescriptor }
  return { host, port: settings.port, ...sharing(settings) }
}

/** The first descriptor that systemd passes (sd_listen_fds(3)). */
const handedDescriptor = 3

/**
 * Whether systemd, or another parent process, has passed us its listening socket. It stays open
 * across restarts, so clients that connect during a restart wait instead of failing.
 */
export function hasHandedSocket(environment: ServerContext['environment']): boolean {
  return environment['LISTEN_PID'] === String(process.pid) && environment['LISTEN_FDS'] === '1'
}

/**
 * Turns a listen error into an OperatorError if its cause is known; else returns the error.
 *
 * @param prefix begins the names of the options for the address.
 */
export function explainListenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number | undefined },
  prefix = '--',
): unknown {
  switch (systemCode(error)) {
    case 'EADDRINUSE': {
      const message = `port ${port} of ${host} is in use; choose another with ${prefix}port`
      return new OperatorError(message, { cause: error })
    }
    case 'EACCES':
      return new OperatorError(`permission denied to listen on port ${port}; choose one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new OperatorError(`${host} is not an address of this machine; correct ${prefix}host`)
    default:
      return error
  }
}
