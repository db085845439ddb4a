// Keys of caches. They contain up to 15 kB of text that clients choose, which a cache that counts
// only its values would miss.

import { hash } from 'node:crypto'

/** The greatest length of a key, in characters. */
const lengthMax = 100

/**
 * The text itself if it is short, as it is for almost all requests, else its hash.
 *
 * @param text begins with a character that base64url does not have, such as a slash or a bracket.
 */
export function fixedKey(text: string): string {
  return text.length <= lengthMax ? text : hash('sha256', text, 'base64url')
}
