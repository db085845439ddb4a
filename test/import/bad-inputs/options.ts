// Options and arguments that are wrong, of imports and of the commands around them.

import type { BadInput, BadInputs } from './bad-input.ts'

const files = {
  'c.ndjson': '{"jurisdiction":"GB","identifier":"1","town":"York"}\n',
  'c.csv': 'jurisdiction,identifier\nGB,1\n',
  'n.csv': 'jurisdiction,number\nGB,1\n',
  'n.json': '{"rows":[{"jurisdiction":"GB","nr":1,"name":null},{"Identifier":"2"}]}',
}

type Rows = readonly (readonly [line: string, says: RegExp])[]

/** Wrong usage: exit code 2. Each line follows `dossier`. */
const usage: Rows = [
  ['inport companies c.ndjson', /^dossier: inport is not a command; did you mean import\?$/],
  ['help imprt', /imprt is not a command; did you mean import\?/],
  ['revoke client', /^dossier: revoke is not a command; see: dossier --help$/],
  ['import', /^dossier: name what to import: companies, rights, /],
  ['import company c.ndjson', /did you mean companies\?$/],
  ['--db a.db find x', /^dossier: --db must follow the command: dossier COMMAND \[OPTIONS\]$/],
  [
    'import c.csv companies',
    /^dossier: before c\.csv, name what it contains, such as: dossier import companies c\.csv$/,
  ],
  ['listing rights GB:1', /^dossier: name the company before the listing: GB:1 rights$/],
  ['changes --since 0 17', /^dossier: changes takes options only, but got 17$/],
  ['keys list x', /^dossier: keys list takes options only, but got x$/],
  ['keys create a --name b', /^dossier: keys create takes one name, but got a b$/],
  ['import companies', /^dossier: name the files to import companies from$/],
  ['import companies c.ndjson --sorce x', /--sorce is not an option.*--source/],
  ['import companies c.ndjson -snapshot', /^dossier: -snapshot is not .* you mean --snapshot\?$/m],
  ['import companies c.ndjson --snap', /did you mean --snapshot\?/],
  [
    'import companies c.ndjson --history',
    /--history is only for employees; of companies, --as-of is/,
  ],
  ['imports --db a.db --db=b.db', /^dossier: --db is given more than once; it takes one value$/],
  ['import companies c.ndjson --wrong', /--wrong is not an option of this command$/],
  ['import companies c.ndjson --source', /--source needs a value/],
  ['import companies c.ndjson --snapshot=yes', /--snapshot takes no value/],
  ['import companies c.ndjson --format xlsx', /--format is xlsx; choose from ndjson, json, csv/],
  ['import companies c.ndjson --source a/b', /--source is "a\/b"; it .* up to 64 letters, digits/],
  ['import companies c.ndjson --source=', /^dossier: --source is ""; /],
  ['import companies c.ndjson --as-of yesterday', /"yesterday"; it must be .* such as 2024-05-31/],
  ['import companies c.ndjson --as-of 2025-02-29', /"2025-02-29"; it does not exist as a date/],
  ['import employees c.ndjson --history', /^dossier: --history needs the date .*: --as-of DATE$/],
  [
    'import rights c.ndjson --history --as-of 2025-01-31',
    /^dossier: --history is only for employees$/,
  ],
  ['import rights c.ndjson --no-history', /--no-history does not apply to rights, whose changes/],
  [
    'import employees c.ndjson --history --no-history --as-of 2025-01-01',
    /--history and --no-history exclude each other/,
  ],
  ['import companies c.ndjson --db mysql://localhost/registry', /^dossier: --db .*mysql/],
  ['import companies c.csv --show 0', /--show is "0"; it takes a number from 1 to 1,000$/],
  ['import companies c.csv --encoding windows-1215', /windows-1215; did you mean windows-1251\?/],
  ['import companies c.csv --encoding cp1257', /cp1257, which is not .*-f windows-1257 -t UTF-8/],
  ['import companies c.csv --encoding cp850', /cp850, which is not .*: iconv -f cp850 -t UTF-8/],
  ['import companies c.csv --encoding ebcdic', /--encoding is ebcdic; choose from utf-8, utf-16/],
  ['import companies c.csv --encoding constructor', /--encoding is constructor; choose from utf-8/],
  ['import companies c.csv --delimiter ;;', /is ";;"; it must be tab or one ASCII character/],
  ['import companies c.csv --delimiter §', /one ASCII character/],
  ['import companies c.csv --columns a,', /--columns has a column without a name; it takes names/],
  ['import companies c.csv --columns a,b,A', /--columns names a twice/],
  ['import companies c.csv --skip-lines -1', /--skip-lines/],
  ['import companies c.csv --skip-lines x', /--skip-lines is "x"; .* number from 0 to 1,000,000$/],
  ['import companies c.csv --records a', /--records applies to json, but the files are csv/],
  ['import companies c.csv --format json --delimiter ;', /applies to csv, tsv, but the files are/],
  ['import companies c.csv --format parquet --encoding latin1', /--encoding applies to .*parquet/],
  ['revert', /^dossier: revert needs a VERSION; see: dossier imports$/],
  ['revert last', /^dossier: VERSION is "last"; it takes a version number; see: dossier imports$/],
  ['revert 0', /^dossier: VERSION is "0"; it takes a version number/],
  ['revert 2 3', /revert takes one VERSION; --with-later adds the later ones of its source$/],
  ['revert 2 --to 1', /revert takes either VERSION or --to VERSION$/],
  ['revert --to 1 --with-later', /--to reverts all later imports anyway$/],
  ['revert --to -1', /--to is "-1"; it takes a version number/],
  ['sources remove', /sources remove takes the name of one source; see: dossier sources$/],
  ['sources remove register --resource right', /--resource is right; did you mean rights\?$/],
  ['sources delete register', /sources has no action delete; to show one: sources show NAME$/],
  ['sources show', /sources show takes the name of one source/],
  ['sources --yes', /^dossier: sources takes no --yes$/],
  ['sources show register --resource rights', /^dossier: sources show takes no --resource$/],
  ['withhold list --reason x', /^dossier: withhold list takes no --reason$/],
  ['imports show 1 --limit 3', /^dossier: imports show takes no --limit$/],
  ['backup', /backup takes one argument: the file to create/],
  ['backup -', /the file to create, not standard input or output \(-\)$/m],
  ['restore', /restore takes one argument: the file to restore/],
  ['restore -', /the file to restore, not standard input or output \(-\)$/m],
  ['export -', /name one folder: export DIR, not standard input or output \(-\)$/m],
  ['imports --db -', /--db is "-"; it must be a file, .*; write \.\/- if its name is -$/m],
  ['imports --withheld -', /--withheld is "-"; it must be a file; write \.\/- if its name is -$/m],
  ['serve --exports -', /--exports is "-"; it must be a folder$/m],
  ['prune', /prune needs --keep DURATION/],
  ['prune --keep forever', /--keep is "forever"; it takes a duration such as 365d/],
  ['imports x', /imports has no action x; to show one: imports show VERSION/],
  ['imports --limit 0', /--limit is "0"; it takes a number from 1 to 1,000,000/],
  ['find', /find takes words of a name, or a number/],
  ['company', /name one company/],
  ['company GB', /name one company/],
  ['company GB 1 2', /name one company/],
  ['verify x.db', /verify takes options only; name the store with --db/],
  ['compact x.db', /compact takes options only, but got x\.db/],
  ['serve now', /serve takes options only/],
  ['serve --port 99999', /--port is "99999"/],
  ['keys', /create, rotate, list, revoke/],
  ['keys crate', /did you mean create\?/],
  [
    'import companies c.ndjson --rejects -',
    /^dossier: --rejects takes the name of a file, not -$/m,
  ],
  ['import companies c.ndjson --rejects=', /--rejects takes the name of a file, not ''$/m],
  ['import companies c.ndjson --rejects .', /--rejects \. is a folder; name a new file, such as /],
  ['keys create', /--name NAME/],
]

/** Commands that fail: exit code 1. */
const failures: Rows = [
  ['import companies c.ndjson --rejects no/r.ndjson', /^dossier: no\/r\.ndjson cannot be written:/],
  ['import companies n.csv', /no column identifier; .* a mapping \(--map\) can supply it: select /],
  [
    'import companies n.json --records rows',
    /n\.json has no column identifier, but Identifier: .*: select "Identifier" as identifier, … /,
  ],
  ['import rights c.ndjson --source x', /line 1: town: is not a known column$/],
  ['import companies c.ndjson --db no/registry.db', /^dossier: no\/registry\.db: the folder does/],
  ['import companies c.ndjson --db c.ndjson', /^dossier: c\.ndjson is not a Dossier store/],
  ['revert 99', /^dossier: there is no version 99; the latest is \d+ \(see: dossier imports\)$/],
  ['revert 2', /^dossier: version 2 .* has later imports of the same source: .*--with-later$/],
  ['revert --to 99', /^dossier: there is no version 99/],
  ['sources remove registr --yes', /^dossier: there is no source registr; .* you mean register\?$/],
  ['sources remove register --resource jobs --yes', /has nothing of jobs, so nothing was changed$/],
  ['backup no/such/copy.db', /no\/such does not exist; create it first$/],
  ['restore c.ndjson --db no/registry.db', /^dossier: no\/registry\.db: the folder does not exist/],
  ['backup copy.db --db none.db', /^dossier: none\.db does not exist/],
  ['company GB 99', /^dossier: .*GB:99/],
  ['verify --db other.db', /^dossier: other\.db does not exist/],
]

const keyed = '{"company_id":1,"key":"A"'

const tableOf = (rows: Rows, code: 1 | 2) =>
  Object.fromEntries(
    rows.map(([run, says]): [string, BadInput] => [run, { files, run, code, says }]),
  )

export const badOptions: BadInputs = {
  ...tableOf(usage, 2),
  ...tableOf(failures, 1),
  'two values for one key': {
    files: { 'r.ndjson': `${keyed}}\n${keyed},"name":"B"}\n` },
    run: 'import rights r.ndjson --source trial',
    says: /key: "A": was given before with other content, in line 1$/,
  },
}
