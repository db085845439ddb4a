// Files that are not what their names say, or are not whole.

import { gzipSync } from 'node:zlib'
import { makeZip } from '../../support/make-zip.ts'
import { type BadInput, type BadInputs, importing } from './bad-input.ts'

const csv = 'jurisdiction,identifier,town\nGB,8,York\nGB,9,Ely\n'

const companies = (
  name: string,
  content: string | Buffer,
  says: RegExp,
  options?: string,
): BadInput => ({ ...importing('companies', name, content, options), says })

const latin = Buffer.from('jurisdiction,identifier,town\nDE,9,Mülheim\n', 'latin1')
const bytes = Buffer.from(csv)
const two = makeZip([
  { path: 'a.csv', bytes },
  { path: 'b.csv', bytes },
])
const workbook = makeZip([{ path: 'xl/workbook.xml', bytes: Buffer.from('<x/>') }])

export const badBytes: BadInputs = {
  'an encoding that nobody named': companies(
    'c.csv',
    latin,
    /^dossier: c\.csv: line 2 is not valid UTF-8; say which encoding .*--encoding NAME/,
  ),
  'the wrong encoding': companies(
    'c.csv',
    latin,
    /line 2 is not valid shift_jis \(at a byte 0x/,
    '--encoding shift_jis',
  ),
  'an encoding that there is none': {
    ...companies('c.csv', csv, /--encoding is utf-9; did you mean utf-8\?/, '--encoding utf-9'),
    code: 2,
  },
  'a delimiter of two characters': {
    ...companies('c.csv', csv, /--delimiter is "\|\|"; it must be tab or one/, '--delimiter ||'),
    code: 2,
  },
  'a gzip file that ends too early': companies(
    'c.csv.gz',
    gzipSync(csv).subarray(0, -6),
    /^dossier: c\.csv\.gz ends too early: the gzip file is truncated; download it again$/,
  ),
  'a zip archive with two files': companies(
    'c.zip',
    two,
    /^dossier: c\.zip contains 2 files: a\.csv, b\.csv; unzip it, and import those that you want$/,
  ),
  'a zip archive that ends too early': companies(
    'c.zip',
    two.subarray(0, 40),
    /^dossier: c\.zip is not a sound zip archive.*; download it again, or decompress it first$/,
  ),
  'a zip archive without a file': companies('c.zip', makeZip([]), /a zip archive without a file$/),
  'a workbook': companies('c.xlsx', workbook, /^dossier: c\.xlsx is an Excel workbook.*csv/),
  'a workbook named .csv': companies('c.csv', workbook, /^dossier: c\.csv is an Excel workbook/),
  'an HTML page named .csv': companies(
    'c.csv',
    '<!DOCTYPE html><html><body>Sign in</body></html>',
    /^dossier: c\.csv is an HTML page, .*download the file again$/,
  ),
  'a Git LFS pointer': companies(
    'c.csv',
    'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n',
    /^dossier: c\.csv is a Git LFS pointer, not the file itself; fetch it: git lfs pull$/,
  ),
  'a PDF named .csv': companies('c.csv', '%PDF-1.4\n%ab\n', /^dossier: c\.csv is a PDF document; /),
  'XML named .csv': companies('c.csv', '<?xml version="1.0"?><a/>', /^dossier: c\.csv is XML; /),
  'a database named .csv': companies(
    'c.csv',
    Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(84)]),
    /^dossier: c\.csv: the header contains a NUL character; is this a text file\?$/,
  ),
  'NUL in the header': companies(
    'c.csv',
    csv.replace('town', 'to\0wn'),
    /^dossier: c\.csv: the header contains a NUL character; is this a text file\?$/,
  ),
  'a title above the header': companies(
    'c.csv',
    `Register of companies\n\n${csv}`,
    /begins with "Register of companies", which has 1 cell.*say --skip-lines 2$/,
  ),
  'names of columns in capitals': companies(
    'c.csv',
    csv.replace('identifier', 'Identifier'),
    /no column identifier, but Identifier: names of columns are in lower case; /,
  ),
  'no header': companies(
    'c.csv',
    'GB,8,York\nGB,9,Ely\n',
    /no column jurisdiction; it has GB, 8, York\. The first line looks like data, .* a header$/,
  ),
  'a row of too many cells': companies(
    'c.csv',
    `${csv}GB,7,A,B,C\n`,
    /row 3 \(line 4\): "GB,7,A,B,C": has 5 cells, but the header has 3$/,
  ),
  'a quote that is not closed': companies(
    'c.csv',
    csv.replace('York', '"York'),
    /^dossier: c\.csv: line 2: a quote is not closed; close it, or double it/,
  ),
  'JSON on several lines': companies(
    'c.ndjson',
    '{\n  "jurisdiction": "GB",\n  "identifier": "8"\n}\n',
    /^dossier: c\.ndjson is JSON on several lines, .*jq -c \. c\.ndjson$/,
  ),
  'an array that is not in the object': companies(
    'c.json',
    '{"type":"x","items":[]}',
    /^dossier: c\.json has no array item; did you mean --records items\?$/,
    '--records item',
  ),
  'a blank line above the header': companies(
    'c.csv',
    `\n${csv}`,
    /^dossier: c\.csv: its first line is blank; say --skip-lines 1$/,
  ),
  'a title as a spreadsheet saves it': companies(
    'c.csv',
    `Register of companies,,\n${csv}`,
    /only the first has a name, "Register of companies"; if that is a title, say --skip-lines 1$/,
  ),
  'two columns that differ in case': companies(
    'c.csv',
    'jurisdiction,identifier,name,Name\nGB,8,a,b\n',
    /the header has name and Name, which are one name whatever their case; rename one of the two/,
  ),
  'XML by its name': companies(
    'c.xml',
    '<a/>',
    /^dossier: c\.xml is XML; convert it to NDJSON or CSV$/,
  ),
  'an old workbook by its name': companies(
    'c.xls',
    '\xd0\xcf\x11\xe0',
    /^dossier: c\.xls is an old Excel workbook; save its sheet as "CSV UTF-8", or: libreoffice /,
  ),
  'an empty file': companies('c.csv', '', /^dossier: c\.csv is empty; it needs a header line: get/),
}
