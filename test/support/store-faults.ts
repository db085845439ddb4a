// Ways in which a store may be wrong, in SQL that every kind of store understands. The store has
// had the imports of changed-registry.ts.

export type StoreFault = readonly [title: string, sql: string, told: RegExp]

/** What may be wrong with a store, and what is told of it. */
export const storeFaults: readonly StoreFault[] = [
  [
    'a gap in the positions',
    'update events set position = position + 10',
    /events of company \d+: 2 records at the positions 10 to 11, and a head that says 2/,
  ],
  [
    'a record that is gone',
    'delete from rights',
    /rights of company 1000000000001: 0 records at .*, and a head that says 1/,
  ],
  [
    'a head that is gone',
    "delete from heads where resource = 'rights'",
    /a head that says nothing/,
  ],
  ['a wrong total', "update heads set total = 7 where resource = 'rights'", /a head that says 7/],
  [
    'a wrong meta',
    `update heads set meta = replace(meta, '1', '2') where resource = 'events'`,
    /events of company \d+: meta does not count what is there/,
  ],
  [
    'an order that is none',
    "update events set sort = 'z' where position = 0",
    /position 1 is out of order/,
  ],
  [
    'a head older than its records',
    "update heads set version = 1 where resource = 'rights'",
    /the head says that version 1 changed it last, its records that 4 did/,
  ],
  [
    'a head newer than its records',
    "update heads set version = 9 where resource = 'rights'",
    /says that version 9 changed it last/,
  ],
  [
    'a record of another form',
    `update rights set record = replace(record, '"y"', ' "y"')`,
    /record 1: is not in the form of the wire/,
  ],
  [
    'a field that is missing',
    `update events set record = replace(record, '"attr"', '"atr"')`,
    /: atr is no known column; did you mean attr/,
  ],
  [
    'a value that is not allowed',
    `update events set record = replace(record, '"2025-02-28T00:00:00Z"', 'null')`,
    /record \d+: date is required/,
  ],
  ['text that is no JSON', `update rights set record = 'x'`, /says that its id is nothing/],
  ['another id', `update rights set record = replace(record, ':1,', ':2,')`, /its id is 2/],
  [
    'a value changed behind the digest',
    `update rights set record = replace(record, '"y"', '"z"')`,
    /record 1: has the digest of another content/,
  ],
  [
    'a former record changed',
    `update rights_past set record = replace(record, '"x"', '"z"')`,
    /record 1, in the past: has the digest of another content/,
  ],
  ['a former record of no time', 'update rights_past set until = version', /of a wrong time/],
  ['a source that is none', 'update rights set source_id = 99', /of no company, source or version/],
  [
    'attributes changed behind the digest',
    `update company_attributes set attributes = '{"name":"x"}' where is_present`,
    /attributes of company 1000000000001: has the digest of another content/,
  ],
  [
    'attributes of nobody',
    'update company_attributes set company_id = 5 where is_present',
    /company 5: attributes of no company, source or version/,
  ],
]
