// Characters of external text that must not reach a terminal.

/** Control characters except line breaks, bidirectional controls, and line separators. */
export const controls = new RegExp(
  '[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f' +
    '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]',
)
