// Rows with values that are not accepted.

import { type BadInput, type BadInputs, importing } from './bad-input.ts'

const company = (members: string, says: RegExp): BadInput => ({
  ...importing('companies', 'c.ndjson', `{${members}}\n`, '--source trial'),
  says,
})

const right = (members: string, says: RegExp): BadInput => ({
  ...importing('rights', 'r.ndjson', `{"company_id":1,${members}}\n`, '--source trial'),
  says,
})

const job = (members: string, says: RegExp): BadInput => ({
  ...importing('jobs', 'j.ndjson', `{"company_id":1,"title":"Cook",${members}}\n`),
  says,
})

const name = '"jurisdiction":"GB","identifier":"1"'

export const badValues: BadInputs = {
  'a jurisdiction with blanks around it': company(
    '"jurisdiction":"GB ","identifier":"1"',
    /^c\.ndjson: line 1: jurisdiction: "GB ": has blanks around it; .* add --trim$/,
  ),
  'an identifier with blanks around it': company(
    '"jurisdiction":"GB","identifier":" 1"',
    /^c\.ndjson: line 1: identifier: " 1": has blanks around it; .* add --trim$/,
  ),
  'a tab at the end of an identifier': company(
    '"jurisdiction":"GB","identifier":"1\\t"',
    /identifier: "1\\t": has blanks around it/,
  ),
  'a numeric identifier': company(
    '"jurisdiction":"GB","identifier":9876543',
    /identifier: 9876543: must be text; quote it, or cast it to varchar$/,
  ),
  'no identifier': company('"jurisdiction":"GB"', /line 1: identifier: is required$/),
  'a blank identifier': company('"jurisdiction":"GB","identifier":" "', /identifier: is required/),
  'Identifier in capitals': company(
    '"jurisdiction":"GB","Identifier":"1"',
    /identifier: is required, but the row has Identifier; names are in lower case$/,
  ),
  'an identifier of two kilobytes': company(
    `"jurisdiction":"GB","identifier":"${'x'.repeat(2_000)}"`,
    /identifier: "x{79}…: is longer than 1,024 bytes$/,
  ),
  'a NUL in an attribute': company(`${name},"town":"Le\\u0000eds"`, /town: .* a NUL character$/),
  'a NUL in the name of an attribute': company(
    `${name},"to\\u0000wn":"Leeds"`,
    /: to\\x00wn: contains a NUL character$/,
  ),
  'half of a surrogate pair': company(`${name},"town":"\\ud800"`, /half of a surrogate pair$/),
  'control characters in a value': company(
    '"jurisdiction":"GB","identifier":"\\u001b[31m1 "',
    /identifier: "\\u001b\[31m1 ": has blanks/,
  ),
  'a reserved attribute': company(`${name},"register_entry":"x"`, /register_entry: is a reserved/),
  'an attribute nested too deep': company(
    `${name},"x":${'['.repeat(40)}${']'.repeat(40)}`,
    /: x: .*: is nested deeper than 32 levels$/,
  ),
  'a name of an attribute of a kilobyte': company(
    `${name},"${'x'.repeat(1_000)}":"1"`,
    /is longer than 256 bytes$/,
  ),
  'an id of zero': company(`"id":0,${name}`, /: id: 0: must be 1 or greater$/),
  'an id beyond 2^53': company(`"id":9007199254740993,${name}`, /: id: .*: is beyond 2\^53-1$/),
  'a day that is not a date': company(
    `${name},"as_of":"yesterday"`,
    /: as_of: "yesterday": must be a date/,
  ),
  'a day far in the future': company(
    `${name},"as_of":"2099-01-01"`,
    /: as_of: "2099-01-01T00:00:00Z": is in the future; if that is right, add --future$/,
  ),
  'a member twice': company(
    `${name},"town":"York","town":"Hull"`,
    /: town: is in the JSON object twice$/,
  ),
  'a member twice in an object within': company(
    `${name},"seat":{"town":"York","town":"Hull"}`,
    /: town: is in the JSON object twice$/,
  ),
  'the id of another company': company(
    '"id":2,"jurisdiction":"GB","identifier":"1"',
    /: id: 2: GB 1 is company 1$/,
  ),
  'two contents for one company': {
    ...importing('companies', 'c.ndjson', `{${name},"town":"York"}\n{${name},"town":"Hull"}\n`),
    says: /line 2: identifier: "1": was given before with other content, in line 1$/,
  },
  'an integer with decimals': job('"salary_from":15.45', /salary_from: 15\.45: must be an integer/),
  'an integer with a separator': job('"salary_from":"32,000"', /"32,000": must be an integer/),
  'an integer beyond 2^53': job('"salary_to":"9007199254740993"', /is beyond 2\^53-1$/),
  'a number for a text': job('"currency":978', /currency: 978: must be text; quote it/),
  'a date in the American way': right(
    '"registration_date":"05/31/2024"',
    /must be a date such as 2024-05-31/,
  ),
  'a day that does not exist': right(
    '"registration_date":"2024-02-30"',
    /does not exist as a date/,
  ),
  'a date as a number': right('"registration_date":1717113600', /must be a date as text/),
  'a list that is not JSON': right('"holders":"[Ann"', /begins with \[ but is not a JSON array$/),
  'a list of numbers': right('"holders":[1]', /holders: \[1\]: must be text/),
  'an object for a list': right('"holders":{"a":1}', /must be a list of texts$/),
  'an unknown column': right('"nmae":"A"', /nmae: is not a known column; did you mean name\?$/),
  'both an id and a key': right('"id":5,"key":"A"', /key: has both an id and a key$/),
  'a blank key': right(
    '"key":"","name":"A"',
    /key: "": is blank; give each row a key, or leave the column out$/,
  ),
  'a null key': right('"key":null,"name":"A"', /key: null: is blank; give each row a key/),
  'an id of another source': {
    ...importing('rights', 'r.ndjson', '{"id":11,"company_id":1,"name":"A"}\n', '--source trial'),
    says: /id: 11: belongs to a record of the source register$/,
  },
  'a record without a company': {
    ...importing('rights', 'r.ndjson', '{"name":"A"}\n'),
    says: /names no company; give company_id, or jurisdiction and identifier$/,
  },
  'a record with half a company': {
    ...importing('rights', 'r.ndjson', '{"name":"A","company_jurisdiction":"GB"}\n'),
    says: /company_identifier: is missing; a company needs both/,
  },
  'an unknown company': {
    ...importing('rights', 'r.ndjson', '{"name":"A","company_id":99}\n', '--known-companies-only'),
    says: /company_id: 99: is not in the registry$/,
  },
  'an event without a date': {
    ...importing('events', 'e.ndjson', '{"company_id":1,"attr":"name"}\n'),
    says: /date: is required$/,
  },
  'an event without an attribute': {
    ...importing('events', 'e.ndjson', '{"company_id":1,"date":"2024-01-01"}\n'),
    says: /attr: is required$/,
  },
  'a kind of event of a kilobyte': {
    ...importing(
      'events',
      'e.ndjson',
      `{"company_id":1,"date":"2024-01-01","attr":"${'x'.repeat(999)}"}\n`,
    ),
    says: /is longer than 256 bytes$/,
  },
  'a text of a megabyte': right(`"name":"${'x'.repeat(1 << 20)}"`, /is longer than 65,536 bytes$/),
  'two values for one key': {
    ...importing(
      'rights',
      'r.ndjson',
      '{"company_id":1,"key":"A"}\n{"company_id":1,"key":"A","name":"B"}\n',
    ),
    says: /key: "A": was given before with other content, in line 1$/,
  },
  'several faults in one row (the first)': right(
    '"key":"","nmae":"A","registration_date":"x","holders":[1]',
    /^r\.ndjson: line 1: nmae: is not a known column/,
  ),
  'several faults in one row (the last)': right(
    '"key":"","nmae":"A","registration_date":"x","holders":[1]',
    /^r\.ndjson: line 1: key: "": is blank/,
  ),
  'several faults in one company': company(
    '"id":"x","jurisdiction":" GB","identifier":1,"town":"a\\u0000","as_of":"x"',
    /^c\.ndjson: line 1: town: /,
  ),
}
