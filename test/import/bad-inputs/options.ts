// Options and arguments that are wrong, of imports and of the commands around them.

import type { BadInput, BadInputs } from './bad-input.ts'

const files = { 'c.ndjson': '{"jurisdiction":"GB","identifier":"1","town":"York"}\n' }

/** Wrong usage: exit code 2. */
const usage = (run: string, says: RegExp): BadInput => ({ files, run, code: 2, says })

/** A command that fails: exit code 1. */
const failure = (run: string, says: RegExp): BadInput => ({ files, run, says })

const named = '{"jurisdiction":"GB","identifier":"8"'
const keyed = '{"company_id":1,"key":"A"'

export const badOptions: BadInputs = {
  'a command that is not there': usage('inport companies c.ndjson', /did you mean import\?$/),
  'nothing to import': usage('import', /^dossier: name what to import: companies, rights, /),
  'a resource that is not there': usage('import company c.ndjson', /did you mean companies\?$/),
  'no file': usage('import companies', /^dossier: name the files to import companies from$/),
  'an option that is not there': usage(
    'import companies c.ndjson --sorce x',
    /--sorce is not an option.*--source/,
  ),
  'an option without its value': usage('import companies c.ndjson --source', /--source/),
  'a value for a flag': usage('import companies c.ndjson --snapshot=yes', /--snapshot/),
  'a format that is not there': usage(
    'import companies c.ndjson --format xlsx',
    /^dossier: --format is xlsx; it must be one of ndjson, json, csv, tsv, parquet$/,
  ),
  'a source with a slash': usage(
    'import companies c.ndjson --source sec/companies',
    /^dossier: --source is "sec\/companies"; it takes up to 64 letters, digits, dots, _ and -$/,
  ),
  'an empty source': usage('import companies c.ndjson --source=', /^dossier: --source is ""; /),
  'a date that is none': usage(
    'import companies c.ndjson --as-of yesterday',
    /^dossier: --as-of is "yesterday"; it must be a date such as 2024-05-31/,
  ),
  'a day that does not exist': usage(
    'import companies c.ndjson --as-of 2025-02-29',
    /^dossier: --as-of is "2025-02-29"; it does not exist as a date and time$/,
  ),
  'a history without a date': usage(
    'import employees c.ndjson --history',
    /^dossier: --history needs the date of the extract: --as-of DATE$/,
  ),
  'the source as the file of refused rows': usage(
    'import companies c.ndjson --rejects c.ndjson',
    /^dossier: --rejects c\.ndjson is a file that this import uses; name another$/,
  ),
  'the store as the file of refused rows': usage(
    'import companies c.ndjson --rejects dossier.db',
    /^dossier: --rejects dossier\.db is a file that this import uses; name another$/,
  ),
  'refused rows into a folder that is not there': failure(
    'import companies c.ndjson --source x --rejects no/refused.ndjson',
    /^dossier: no\/refused\.ndjson cannot be written: /,
  ),
  'the columns of companies in rights': failure(
    'import rights c.ndjson --source x',
    /line 1: town: is not a known column$/,
  ),
  'a store in a folder that is not there': failure(
    'import companies c.ndjson --db no/registry.db',
    /^dossier: no\/registry\.db/,
  ),
  'a source as the store': failure(
    'import companies c.ndjson --db c.ndjson',
    /^dossier: c\.ndjson/,
  ),
  'a URL of another database': usage(
    'import companies c.ndjson --db mysql://localhost/registry',
    /^dossier: --db .*mysql/,
  ),
  'a folder as the store': failure(
    'import companies c.ndjson --db .',
    /^dossier: \. is a folder; name a file in it with --db$/,
  ),
  'a revert of nothing': usage('revert', /^dossier: revert needs a VERSION; see: dossier imports$/),
  'a revert of a word': usage('revert last', /^dossier: VERSION is "last"; it takes a number/),
  'a revert of version 0': usage('revert 0', /^dossier: VERSION is "0"; it takes a number/),
  'a revert of two versions': usage('revert 2 3', /one VERSION; --with-later adds those/),
  'a revert of a version that is not there': failure('revert 99', /^dossier: .*99/),
  'a revert that later imports build on': failure('revert 2', /^dossier: .*--with-later/),
  'a revert to a version that is not there': failure('revert --to 99', /^dossier: .*99/),
  'a revert of and to a version': usage('revert 2 --to 1', /either VERSION or --to VERSION$/),
  'a source that is not there': failure(
    'sources remove registr --yes',
    /^dossier: there is no source registr; did you mean register\?$/,
  ),
  'a source without its name': usage('sources remove', /takes the name of one source; see/),
  'a source of nothing': failure(
    'sources remove register --resource jobs --yes',
    /^dossier: the source register has nothing of jobs, so nothing was changed$/,
  ),
  'a source of a resource that is not there': usage(
    'sources remove register --resource right --yes',
    /^dossier: --resource is right; did you mean rights\?$/,
  ),
  'an action of sources that is not there': usage('sources delete register', /takes no delete; to/),
  'a backup onto the store': failure(
    'backup dossier.db',
    /^dossier: dossier\.db exists; name a new file for the copy$/,
  ),
  'a backup without a file': usage('backup', /^dossier: .*FILE|^dossier: .*file/),
  'a prune without a time': usage('prune', /^dossier: .*--keep/),
  'a prune of a word': usage('prune --keep forever', /^dossier: --keep is .*forever/),
  'a company that is not there': failure('company GB 99', /^dossier: .*GB 99/),
  'a store that is not there': failure('verify --db other.db', /^dossier: .*other\.db/),
  'a number of imports that is none': usage('imports --limit many', /^dossier: --limit is .*many/),
  'an encoding that there is none': usage(
    'import companies c.ndjson --encoding utf-9',
    /--encoding is utf-9; did you mean utf-8\?/,
  ),
  'a delimiter of two characters': usage(
    'import companies c.ndjson --delimiter ||',
    /--delimiter is "\|\|"; it must be tab or one/,
  ),
  'two contents for one company': {
    files: { 'c.ndjson': `${named},"town":"York"}\n${named},"town":"Hull"}\n` },
    run: 'import companies c.ndjson --source trial',
    says: /line 2: identifier: "8": was given before with other content, in line 1$/,
  },
  'two values for one key': {
    files: { 'r.ndjson': `${keyed}}\n${keyed},"name":"B"}\n` },
    run: 'import rights r.ndjson --source trial',
    says: /key: "A": was given before with other content, in line 1$/,
  },
}
