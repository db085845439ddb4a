// Extracts that are not what they seem: each would change more than it should, and gets a warning.

import type { BadInput, BadInputs } from './bad-input.ts'

const count = 60
const numbers = Array.from({ length: count }, (_, n) => n + 1)
const header = 'jurisdiction,identifier,name,town\n'

/** An extract of banks; `undefined` leaves one out. */
const extract = (row: (n: number) => string | undefined) =>
  header +
  numbers
    .flatMap((n) => row(n) ?? [])
    .map((line) => `${line}\n`)
    .join('')

const bank = (n: number) => `IN,00${n},Bank ${n},Town ${n}`

/** Trade marks with keys, one of each bank. */
const marks = numbers
  .map((n) => `{"key":"${n}","company_jurisdiction":"IN","company_identifier":"00${n}"}\n`)
  .join('')

/** The files of the registry's banks, which stay. */
export const banks: Readonly<Record<string, string>> = {
  'banks-10.csv': extract(bank),
  'banks-11.csv': extract((n) => (n === 1 ? 'IN,001,First Bank,Town 1' : bank(n))),
  'parts.csv': extract(bank),
  'marks.ndjson': marks,
}

/** How they were imported: versions 4 to 7, with an event of the source banks/companies. */
export const loads = [
  'import companies banks-10.csv --source banks --snapshot --as-of 2025-10-31',
  'update banks banks-11.csv --as-of 2025-11-30',
  'import companies parts.csv --source parts',
  'import rights marks.ndjson --source marks',
]

/** An event that the store has recorded, without what identifies it there. */
export const recordedEvent =
  '{"company_jurisdiction":"IN","company_identifier":"001","jurisdiction":"IN","identifier":"001",' +
  '"date":"2025-11-30","attr":"name","before":"Bank 1","after":"First Bank"}\n'

function refused(name: string, content: string | Buffer, options: string, says: RegExp): BadInput {
  return { files: { [name]: content }, run: `import companies ${name} ${options}`, says }
}

/** The next extract of the banks. */
const next = (content: string | Buffer, says: RegExp, options = ''): BadInput => ({
  files: { 'banks-12.csv': content },
  run: `update banks banks-12.csv --as-of 2025-12-31 ${options}`,
  says,
})

/** What is only warned of without --strict. */
const strict = (content: string | Buffer, says: RegExp, options = ''): BadInput =>
  next(content, says, `--strict ${options}`)

const command = (run: string, says: RegExp, files: BadInput['files'] = {}): BadInput => ({
  files,
  run,
  says,
})
const usage = (...words: Parameters<typeof command>): BadInput => ({
  ...command(...words),
  code: 2,
})

const all = extract(bank)
const newest = all.replace('Bank 2', 'Second Bank')
const insert = (line: string) => all.replace('IN,0030,', `${line}\nIN,0030,`)
const jobs = numbers
  .map((n) => `{"company_jurisdiction":"IN","company_identifier":"${n}","title":"Clerk"}\n`)
  .join('')

/** The same through a mapping. */
const mapped = (sql: string, says: RegExp, content = all, options = ''): BadInput => ({
  files: { 'banks-12.csv': content, 'm.sql': sql },
  run: `update banks banks-12.csv --as-of 2025-12-31 --map ./m.sql ${options}`,
  says,
})

export const badExtracts: BadInputs = {
  '3: a partial extract': strict(
    extract((n) => (n > 57 ? undefined : bank(n))),
    /^dossier: the files lack 3 of the 60 companies of banks \(5\.0 %\), .* leave out --strict$/,
  ),
  '3: a forgotten limit': mapped(
    "select * from source where identifier <> '0060'",
    /^rows in the files: 60$/,
    newest,
    '--strict',
  ),
  '6: UTF-8 that was read twice': strict(
    all.replace('Town 9\n', `${'Town '.repeat(30)}MÃ¼nchen\n`),
    /^dossier: banks-12\.csv: row 9: town is "[Tow n]{19}MÃ¼nchen", which is "[Tow n]{19}München" /,
  ),
  '6: characters that a conversion has lost': strict(
    all.replace('Town 9\n', `${'Town '.repeat(30)}M\ufffdnchen\n`),
    /^dossier: banks-12\.csv: row 9: town is "[Tow n]{19}M\ufffdnchen", where \ufffd stands for a/,
  ),
  '7: a quote that swallows lines': strict(
    all.replace('Town 5\n', `"Town 5\n${'long line\n'.repeat(150)}"\n`),
    /^dossier: banks-12\.csv: row 5: town has 152 lines; is a quote before it unclosed\?/,
  ),
  '9: a misspelt store in an update': command(
    'update banks banks-11.csv --db dosier.db',
    /^dossier: dosier\.db does not exist; create it with: dossier import$/,
  ),
  '12: jobs of companies that no register named': command(
    'import jobs jobs.ndjson --source jobs --strict',
    /^dossier: 60 of 60 companies are not in the registry, .*--known-companies-only; nothing was/,
    { 'jobs.ndjson': jobs },
  ),
  '13: an identifier in scientific notation': next(
    all.replace('IN,009,', 'IN,1.23E+11,'),
    /row 9.*: identifier: "1\.23E\+11": is a number in scientific notation, .* export it as text/,
  ),
  '13: an identifier in the scientific notation of Java': next(
    all.replace('IN,009,', 'IN,1.0000123E7,'),
    /row 9.*: identifier: "1\.0000123E7": is a number in scientific notation, .* export it as text/,
  ),
  '13: an identifier as a decimal number': next(
    all.replace('IN,009,', 'IN,9.0,'),
    /row 9.*: identifier: "9\.0": is a decimal number, as programs .*; export it as text/,
  ),
  '13: an invisible character in an identifier': next(
    all.replace('IN,009,', 'IN,009\u200b,'),
    /identifier: .*: has the invisible character U\+200B; remove it in the file or in a mapping/,
  ),
  '13: full-width characters in an identifier': next(
    all.replace('IN,009,', 'IN,００９,'),
    /identifier: "００９": has full-width characters; write "009"/,
  ),
  '13: an identifier as a formula of a spreadsheet': next(
    all.replace('IN,009,', 'IN,="009",'),
    /identifier: "=\\"009\\"": is a formula of a spreadsheet; write "009"/,
  ),
  '13: an identifier that a spreadsheet marks as text': next(
    all.replace('IN,009,', "IN,'009,"),
    /identifier: "'009": has single quotes, as spreadsheets mark texts; write "009"$/,
  ),
  '13: texts in single quotes': next(
    all.replace('IN,009,', "'IN','009',"),
    /jurisdiction: "'IN'": has single quotes, as spreadsheets mark texts; write "IN"$/,
  ),
  '13: a key in scientific notation': command(
    'import rights r.ndjson --source banks',
    /key: "4e\+20": is a number in scientific notation/,
    { 'r.ndjson': '{"company_id":1,"name":"x","key":"4e+20"}\n' },
  ),
  '14: a byte order mark between joined files': command(
    'import rights r.ndjson --source banks',
    /^r\.ndjson: line 2: "\{.*: it begins with a byte order mark; if files were joined, name them/,
    { 'r.ndjson': '\uFEFF{"company_id":1,"name":"x"}\n\uFEFF{"company_id":1,"name":"y"}\n' },
  ),
  '14: a column in single quotes': mapped(
    "select jurisdiction, identifier, 'NAME' as name, town from source",
    /^dossier: name is "NAME" in all 60 rows; .* double ones: "NAME" as name; nothing/,
    all,
    '--strict',
  ),
  '14: a second header in another order': next(
    insert('identifier,jurisdiction,name,town'),
    /row 30 .*: has the column names in another order; split the file before this line$/,
  ),
  '14: NULL as a text': strict(
    all.replace('Town 7\n', 'NULL\n').replace('Town 8\n', '#REF!\n'),
    /^dossier: town is "NULL" or similar in 2 rows; if that means no value, add --null 'NULL'/,
  ),
  '14: errors of a spreadsheet, in some of its languages': strict(
    '#NV #N/D #Н/Д #BEZUG! #¡REF! #DIV/0! #NAZWA? #VÄRDEFEL!'
      .split(' ')
      .reduce((text, error, n) => text.replace(`Town ${n + 7}\n`, `${error}\n`), all),
    /^dossier: town is "#NV" or similar in 8 rows; if that means no value, add --null '#NV'/,
  ),
  '14: a hyphen where there is no value': strict(
    all.replace('Town 7\n', '-\n'),
    /^dossier: town is "-" or similar in 1 row; if that means no value, add --null '-'/,
  ),
  '14: a member without a name': refused(
    'c.ndjson',
    '{"jurisdiction":"GB","identifier":"1","":"x"}\n',
    '--source trial',
    /line 1: "": is in a column without a name; name it$/,
  ),
  '14: more unknown columns than a message names': {
    files: { 'six.csv': 'company_id,nam,b,c,p,q,r\n1,2,3,4,5,6,7\n' },
    run: 'import rights six.csv',
    says: /^dossier: six\.csv: nam \(did you mean name\?\), b, c, p, q and 1 more are not known/,
  },
  '15: a day of another century': refused(
    'banks-12.csv',
    all,
    '--source banks --snapshot --as-of 1025-12-31',
    /^dossier: --as-of 1025-12-31 is before 1900; check the year$/,
  ),
  '15: a year of two digits': refused(
    'c.ndjson',
    '{"jurisdiction":"GB","identifier":"1","as_of":"0026-01-31"}\n',
    '--source trial',
    /line 1: as_of: "0026-01-31T00:00:00Z": is before 1900; check the year$/,
  ),
  '15: a day that is another in UTC': usage(
    'update banks banks-11.csv --as-of 2026-01-01T00:00:00+02:00',
    /^dossier: --as-of 2026-01-01T00:00:00\+02:00 is 2025-12-31 in UTC; .*: 2026-01-01$/,
  ),
  '15: timestamps that are a day earlier in UTC': strict(
    all.replace('Town 3\n', '2025-11-30T00:00:00+02:00\n'),
    /^dossier: banks-12\.csv: row 3: town is "2025-11-30T.*", which is on 2025-11-29 in UTC; if/,
  ),
  '15: a day with its month and day exchanged': strict(
    all.replace('Town 3\n', '2025-00-00\n').replace('Town 4\n', '2025-31-12\n'),
    /^dossier: banks-12\.csv: row 4: town is "2025-31-12", a day that does not exist; which are its/,
  ),
  '17: --rejects over a file': usage(
    'update banks banks-11.csv --as-of 2025-12-31 --rejects kept.ndjson',
    /^dossier: --rejects kept\.ndjson exists already; name another file, or remove it$/,
    { 'kept.ndjson': '{}\n' },
  ),
  '17: a pipe as a snapshot': usage(
    'import companies - --source banks --snapshot --as-of 2025-12-31',
    /^dossier: - is a pipe, which may end early: .* add --complete to --snapshot$/,
  ),
  'unclear: a line to skip after one that is skipped': next(
    `Register\nof banks\n${all}`,
    /begins with "of banks", which has 1 cell, but the lines from line 3 .*; add --skip-lines 2$/,
    '--skip-lines 1',
  ),
  'unclear: a file without a header that has a value twice': next(
    all.replace(header, '5,5,Bank,Town\n'),
    /the header has the column 5 twice; it looks like data: name the columns with --columns$/,
  ),
  'unclear: a mapping without its ending': command(
    'update banks banks-11.csv --as-of 2025-12-31 --map ./m',
    /^dossier: there is no mapping \.\/m; did you mean \.\/m\.sql\?$/,
    { 'm.sql': 'select 1' },
  ),
  'unclear: a file in place of a backup': command(
    'restore banks-11.csv',
    /^dossier: banks-11\.csv is not a Dossier store; name a file that backup has made$/,
  ),
  'unclear: an empty file in place of a backup': command(
    'restore empty.db',
    /^dossier: empty\.db is not a Dossier store; name a file that backup has made$/,
    { 'empty.db': '' },
  ),
  'unclear: the name of a mapping that is here': command(
    'update banks banks-11.csv --as-of 2025-12-31 --map nse',
    /^dossier: there is no mapping nse; did you mean \.\/nse\.sql\?$/,
    { 'nse.sql': 'select 1' },
  ),
  'fewer lines than are skipped': next(
    '{"error":"rate limited"}\n',
    /^dossier: banks-12\.csv has no lines after the 1 that --skip-lines skips; look at it: head /,
    '--skip-lines 1',
  ),
  'records without the keys that they had': command(
    'update marks marks-2.ndjson',
    /^dossier: the records of marks have been identified by key so far, .* are by their content/,
    { 'marks-2.ndjson': marks.replaceAll(/"key":"\d+",/g, '') },
  ),
  'records with ids where they had keys': command(
    'update marks marks-2.ndjson',
    /by key so far, but these are by id: 60 would be added to the 60 .* add --accept$/,
    { 'marks-2.ndjson': marks.replaceAll(/"key":"(\d+)"/g, '"id":9$1') },
  ),
  'a time to keep in months': usage('prune --keep 6m --yes', /^dossier: --keep 6m .* days: 180d$/),
}
