// PostgreSQL's hash of a bigint (`hashint8`), by which Citus distributes rows: Bob Jenkins' lookup3
// of one word (https://burtleburtle.net/bob/c/lookup3.c).

const rotate = (word: number, bits: number) => (word << bits) | (word >>> (32 - bits))

/**
 * @param id not negative.
 * @returns 32 bits with a sign, as `hashint8` does.
 */
export function hashOfId(id: number): number {
  const word = (id % 2 ** 32) ^ Math.floor(id / 2 ** 32)
  // The start of all three: a constant, the length of a word, and PostgreSQL's seed.
  const start = (0x9e3779b9 + 4 + 3_923_095) | 0
  let [a, b, c] = [(start + word) | 0, start, start]
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}
