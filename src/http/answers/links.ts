// The bound on header fields with links, which repeat the filters of a request.

/** The maximum length of a field with links; many clients take 16 KiB of headers at most. */
export const linkLengthMax = 8_192

/** One link of a Link field (RFC 8288), relative to the host. */
export function linkTo(rel: string, form: string): string {
  return `<${form}>; rel="${rel}"`
}

/**
 * A Link field: all links, or else, if they are too long, only that to the next page; undefined if
 * even that is, which only filters of thousands of characters can cause.
 */
export function joinLinks(links: readonly string[]): string | undefined {
  const all = links.join(', ')
  if (all.length <= linkLengthMax) return all
  return links.find((link) => link.endsWith('; rel="next"') && link.length <= linkLengthMax)
}
