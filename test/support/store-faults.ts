// Faults of a store, in SQL that every kind of store understands. The store has
// had the imports of changed-registry.ts.

export type StoreFault = readonly [title: string, sql: string | readonly string[], told: RegExp]

/** Faults of a store, and how they are reported. */
export const storeFaults: readonly StoreFault[] = [
  [
    'a gap in the positions',
    'update events set position = position + 10',
    /events of company \d+: 2 records at positions 10 to 11, but the head has a total of 2/,
  ],
  [
    'a missing record',
    'delete from rights',
    /rights of company 1000000000001: 0 records at .*, but the head has a total of 1/,
  ],
  ['a missing head', "delete from heads where resource = 'rights'", /the head has a total of none/],
  [
    'a wrong total',
    "update heads set total = 7 where resource = 'rights'",
    /the head has a total of 7/,
  ],
  [
    'a wrong meta',
    `update heads set meta = replace(meta, '1', '2') where resource = 'events'`,
    /events of company \d+: meta does not match the records/,
  ],
  [
    'a wrong order',
    "update events set sort = 'z' where position = 0",
    /position 1 is out of order/,
  ],
  [
    'a head older than its records',
    "update heads set version = 1 where resource = 'rights'",
    /last changed in version 1 according to its head, in version 4 according to its records/,
  ],
  [
    'a head newer than its records',
    "update heads set version = 9 where resource = 'rights'",
    /last changed in version 9 according to its head/,
  ],
  [
    'a record in another form',
    [
      `update rights_pieces set texts = replace(texts, '"y"', ' "y"')`,
      'update rights set bytes = bytes + 1',
    ],
    /record 1: is not in the form that is served/,
  ],
  [
    'a missing field',
    [
      `update events_pieces set texts = replace(texts, '"attr"', '"atr"')`,
      'update events set bytes = bytes - 1, at = case when at > 0 then at - 1 else 0 end',
    ],
    /: atr is not a known column; did you mean attr/,
  ],
  [
    'a value that is not allowed',
    [
      `update events_pieces set texts = replace(texts, '"2025-02-28T00:00:00Z"', 'null')`,
      'update events set bytes = bytes - 18, at = case when at > 0 then at - 18 else 0 end',
    ],
    /record \d+: date is required/,
  ],
  ['text that is not JSON', `update rights_pieces set texts = 'x'`, /contains the id none/],
  [
    'another id',
    `update rights_pieces set texts = replace(texts, ':1,', ':2,')`,
    /contains the id 2/,
  ],
  [
    'other bytes between two records',
    `update events_pieces set texts = replace(texts, '},{', '};{')`,
    /events of company \d+: the texts of the records from position 0 on do not match their index/,
  ],
  [
    'a record in no piece',
    'update rights set piece = 7',
    /rights of company \d+: the texts of the records from position 0 on do not match their index/,
  ],
  [
    'a piece of no record',
    'insert into rights_pieces values (99, 0, 0, 1)',
    /rights of company 99: the texts of the records from position 0 on do not match their index/,
  ],
  [
    'a wrong value of a filter',
    "update events set filter_attr = 'z'",
    /record \d+: is filtered by other values/,
  ],
  [
    'a value that does not match its digest',
    `update rights_pieces set texts = replace(texts, '"y"', '"z"')`,
    /record 1: does not match its digest/,
  ],
  [
    'a past record that was changed',
    `update rights_past set record = replace(record, '"x"', '"z"')`,
    /record 1, past state: does not match its digest/,
  ],
  [
    'a past record with no time range',
    'update rights_past set until = version',
    /with wrong versions/,
  ],
  ['an unknown source', 'update rights set source_id = 99', /without a company, source or version/],
  [
    'attributes that do not match their digest',
    `update company_attributes set attributes = '{"name":"x"}' where is_present`,
    /attributes of company 1000000000001: does not match its digest/,
  ],
  [
    'attributes without a company',
    'delete from companies',
    /company 1000000000001: attributes without a company, source or version/,
  ],
]
