// The client's address and scheme: those of the connection, or those that trusted proxies report.

import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'

/** Describes the client of a request. */
export type Client = ReturnType<typeof createClient>

/** @param trusted addresses and networks of proxies whose X-Forwarded fields are believed. */
export function createClient(trusted: readonly string[]) {
  const isTrusted = proxyAddr.compile(trusted.flatMap(halvesOf))
  return {
    /** Its address; undefined if its connection has just closed. */
    addressOf: (raw: IncomingMessage): string | undefined => proxyAddr(raw, isTrusted),
    protocolOf({ socket, headers }: IncomingMessage): 'http' | 'https' {
      const { remoteAddress } = socket
      // The service itself speaks plain HTTP; a proxy before it may not.
      if (remoteAddress === undefined || !isTrusted(remoteAddress, 0)) return 'http'
      // Each proxy adds what it has seen at the end.
      const last = String(headers['x-forwarded-proto'] ?? '')
        .split(',')
        .at(-1)
      return last?.trim() === 'https' ? 'https' : 'http'
    },
  }
}

/** The package refuses a network of all addresses, but not its halves. */
function halvesOf(network: string): string[] {
  if (!/\/0+$/.test(network)) return [network]
  return network.includes(':') ? ['::/1', '8000::/1'] : ['0.0.0.0/1', '128.0.0.0/1']
}
