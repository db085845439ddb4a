// The bound on header fields with links, which repeat the filters of a request.

import { badRequest } from '../errors.ts'

/**
 * The maximum lengths of a field with links and of Content-Location: many clients and proxies take
 * 16 KiB of headers at most.
 */
export const linkLengthMax = 8_192
export const locationLengthMax = 4_096

/** One link of a Link field (RFC 8288), relative to the host. */
export function linkTo(rel: string, form: string): string {
  return `<${form}>; rel="${rel}"`
}

/**
 * A Link field: all links, or, if they are too long, only the one to the next page; undefined if
 * there is none.
 *
 * @throws ApiError 400 if even that is too long, since a walk by links would end there.
 */
export function joinLinks(links: readonly string[]): string | undefined {
  const all = links.join(', ')
  if (all.length <= linkLengthMax) return all
  const next = links.find((link) => link.endsWith('; rel="next"'))
  if (next !== undefined && next.length > linkLengthMax) {
    throw badRequest(
      'The parameters are too long for a link to the next page; give fewer or shorter values, ' +
        'or a greater limit',
    )
  }
  return next
}
