// The refusal of a store that has too much to do.

/** Too much is under way in the store; nothing is wrong with it. */
export class Busy extends Error {
  override readonly name = 'Busy'
}
