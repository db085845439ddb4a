// Mappings that are not SQL, do too much, or give the wrong columns.

import type { BadInput, BadInputs } from './bad-input.ts'

const csv = 'Jurisdiction,Identifier,Name,order\nGB,7,"Acme\u001b[31m",1\nGB,8,,2\n'

function mapping(sql: string | Buffer, says: RegExp, target = 'companies', options = ''): BadInput {
  const files = { 'x.csv': csv, 'm.sql': sql }
  return { files, run: `import ${target} x.csv --source trial --map m.sql ${options}`, says }
}

/** The mapping that a name or path stands for. */
const found = (name: string, says: RegExp, target = 'companies'): BadInput => ({
  files: { 'x.csv': csv },
  run: `import ${target} x.csv --map ${name}`,
  says,
})

/** The mapping of another file. */
const mappingOf = (name: string, content: string, sql: string, says: RegExp): BadInput => ({
  files: { [name]: content, 'm.sql': sql },
  run: `import companies ${name} --map m.sql`,
  says,
})

const named = 'select Jurisdiction as jurisdiction, Identifier as identifier'

export const badMappings: BadInputs = {
  'no mapping of that name': found(
    'sec-company-ticker',
    /^dossier: there is no mapping sec-company-ticker; did you mean sec-company-tickers\?$/,
  ),
  'a file that is not there': found('my.sql', /^dossier: there is no mapping .* correct its path$/),
  'a folder': found('./', /^dossier: the mapping \.\/ is a folder; name the \.sql file in it$/),
  'a ready mapping of another file': found(
    'ba-atms',
    /^dossier: the mapping fails in line \d+: Referenced column "ID" not found in FROM clause!/,
    'pos_terminals',
  ),
  'a text for no value within nested JSON, which --null does not reach': {
    files: {
      'x.ndjson': '{"no":"7","seat":{"town":"N/A"}}\n',
      'm.sql': "select 'GB' as jurisdiction, no as identifier, seat->>'$.town' as town from source",
    },
    run: 'import companies x.ndjson --map m.sql --null N/A --strict',
    says: /^dossier: town is "N\/A" or similar in 1 row; .* write nullif\(…, 'N\/A'\) in the mapping/,
  },
  'not UTF-8': mapping(
    Buffer.from(`${named},\n 'Ängström' as town from source`, 'latin1'),
    /^dossier: the mapping m\.sql is not UTF-8; save it as UTF-8$/,
  ),
  'UTF-16': mapping(
    Buffer.from(`\uFEFF${named} from source`, 'utf16le'),
    /^dossier: the mapping m\.sql is not UTF-8; save it as UTF-8$/,
  ),
  'not SQL': mapping('jurisdiction: GB', /^dossier: the mapping is not valid SQL: .* in line 1/),
  'a reserved word as the last column': mapping(
    `${named},\n  order\nfrom source`,
    /not valid SQL: .* in line 3 of the mapping$/,
  ),
  'a quote that is not closed': mapping(`${named}, 'x from source`, /not .* SQL: .*unterminated/),
  'a bracket that is not closed': mapping(`${named}, upper(Name from source`, /not valid SQL: /),
  'a file on the web': mapping(
    "select * from read_csv('https://example.com/x.csv')",
    /^dossier: the mapping reads https:\/\/example\.com\/x\.csv, but an import has no network/,
  ),
  'a file on the web as a table': mapping(
    "select * from 'https://example.com/x.csv'",
    /^dossier: the mapping reads https:\/\/example\.com\/x\.csv, but an import has no network/,
  ),
  'a bucket, with --map-read': mapping(
    "select * from read_parquet(['s3://bucket/x.parquet'])",
    /^dossier: the mapping reads s3:\/\/bucket\/x\.parquet, but an import has no network/,
    'companies',
    '--map-read .',
  ),
  'a file that is not there, with --map-read': mapping(
    "select * from read_csv('y.csv', all_varchar = true)",
    /^dossier: the mapping fails: .*y\.csv/,
    'companies',
    '--map-read .',
  ),
  ...Object.fromEntries(
    ["'x.csv'", "read_csv('x.csv')", "read_csv_auto(['x.csv'], header = true)"].map((table) => [
      `a file whose types would be guessed: ${table}`,
      mapping(
        `${named} from source join ${table} y using (Identifier)`,
        /^dossier: the mapping reads x\.csv with types that .*: read_csv\('x\.csv', all_varchar = true\)$/,
        'companies',
        '--map-read .',
      ),
    ]),
  ),
  ...Object.fromEntries(
    ["'x.json'", "'x.jsonl.gz'", "read_json('x.json')", "read_ndjson_auto(['x.json'])"].map(
      (table) => [
        `a file of JSON whose types would be guessed: ${table}`,
        mapping(
          `${named} from source join ${table} y using (Identifier)`,
          /^dossier: the mapping reads x\.json\S* with types that .*, columns = \{code: 'varchar', /,
          'companies',
          '--map-read .',
        ),
      ],
    ),
  ),
  'a table of another name': mapping(`${named} from sources`, /reads sources .* did .* source\?$/),
  'the file instead of the view': mapping(`${named} from x`, /reads x instead of the view source/),
  'a function that is not there': mapping(
    `${named}, uper(Name) as name from source`,
    /fails in line 1: .* uper does not exist! Did you mean "upper"\?$/,
  ),
  'a column in the wrong quotes': mapping(
    'select \'Jurisdiction\' as jurisdiction, "Identifiers" as identifier from source',
    /column "Identifiers" not found .* Candidate bindings: "Identifier", "order"$/,
  ),
  'a column that is not there, under the name of a column of the result': mapping(
    `${named}, "Town" as town from source`,
    /fails: there is no column "Town" to select; --show 1 prints the columns of the view source$/,
  ),
  'a failed conversion': mapping(
    `${named}, Name::integer as number from source`,
    /fails in line 1: Could not convert string 'Acme\\x1b\[31m' to INT32 /,
  ),
  'a date of another format': mapping(
    `${named}, strptime(Name, '%d/%m/%Y') as founded from source`,
    /the mapping fails: Could not parse string "Acme\\x1b\[31m" according to .*%Y"$/,
  ),
  'values of the wrong type': mapping(
    `${named}, Name + 1 as next from source`,
    /given name and argument types '\+\(VARCHAR, INTEGER_LITERAL\)'\. .* casts\.$/,
  ),
  'a sum in a query of rows': mapping(
    `${named}, count(*) as n from source`,
    /fails in line 1: column "Jurisdiction" must appear in the GROUP BY/,
  ),
  'columns with the names of the file': mapping(
    'select * from source',
    /has no column jurisdiction, but Jurisdiction: .*; write "Jurisdiction" as jurisdiction$/,
  ),
  'no identifier': mapping(
    'select Jurisdiction as jurisdiction, Name as name from source',
    /has no column identifier; it has jurisdiction, name; write … as identifier$/,
  ),
  'two columns of one name': mapping(
    `${named}, Name as name, upper(Name) as name from source`,
    /^dossier: the mapping returns the column name twice; rename one .*: \* exclude \("name"\)$/,
  ),
  'a null joined with ||': mapping(
    "select 'GB' as jurisdiction, Identifier || '-' || Name as identifier from source",
    /row 2: identifier: is required$/,
  ),
  'a mapped file with a member twice in an object within': mappingOf(
    'x.json',
    '[{"a":{"b":1}},{"a":{"b":1,"c":[{"d":1},{"d":2,"d":3}]}}]',
    "select a->>'$.b' as jurisdiction, a->>'$.b' as identifier from source",
    /^x\.json: row 2: d: occurs twice in the JSON object$/,
  ),
  'a mapped file with a NUL in a name': mappingOf(
    'x.ndjson',
    '{"a\\u0000b":"1"}\n',
    'select * from source',
    /^dossier: x\.ndjson has a member whose name contains a NUL character: "a\\u0000b"/,
  ),
  'an object as an identifier': mappingOf(
    'x.ndjson',
    '{"a":{"value":"7"}}\n',
    "select 'FI' as jurisdiction, a as identifier from source",
    /identifier: "\{\\"value\\":\\"7\\"\}": is JSON; take the value in it, in a mapping: company->>/,
  ),
  'a mapped file of empty objects': mappingOf(
    'x.ndjson',
    '{}\n{}\n',
    'select a as identifier from source',
    /^dossier: x\.ndjson has only empty JSON objects$/,
  ),
  'a folder that is not there': {
    ...mapping(
      `${named} from source`,
      /^dossier: --map-read codes is not a folder$/,
      'companies',
      '--map-read codes',
    ),
    code: 2,
  },
  'a folder without a mapping': {
    files: { 'x.csv': csv },
    run: 'import companies x.csv --map-read .',
    code: 2,
    says: /^dossier: --map-read needs a mapping: --map$/,
  },
}
