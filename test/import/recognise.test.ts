// What a file is, told from its first bytes: read rightly where that is safe, else refused with the
// next thing to do.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { folderWith, refuseFile, type RefusedFile, writeParquet } from '../support/import-folder.ts'
import { queryValue } from '../support/import-rows.ts'

const csv = 'id,company_id,name\n1,7,one\n2,7,"two, with ""quotes""\nand a line"\n'
const ndjson = '{"id":1,"company_id":7,"name":"one"}\n\n{"id":2,"company_id":7,"name":"two"}\n'
const object = { type: 'FeatureCollection', features: [{ id: 1 }, { id: 2 }], data: { items: [] } }
const pretty = JSON.stringify(object, undefined, 2)

describe('a file is read as what it is, whatever its name and compression', () => {
  const files: Readonly<Record<string, string | Buffer>> = {
    'a.csv': csv,
    'crlf.csv': `\uFEFF${csv.replaceAll('\n', '\r\n')}`,
    'a.tsv': 'id\tcompany_id\tname\n1\t7\tone\n2\t7\ttwo\n',
    'semicolon.csv': 'id;company_id;name\n1;7;one\n2;7;two, three\n',
    'a.csv.gz': gzipSync(csv),
    'a.csv.zst': zstdCompressSync(csv),
    'a.csv.bgz': gzipSync(csv),
    'a.csv.gzip': gzipSync(csv),
    'a.csv.zstd': zstdCompressSync(csv),
    'a.ndjson': ndjson,
    'crlf.jsonl': `\uFEFF${ndjson.replaceAll('\n', '\r\n')}`,
    'a.ndjson.gz': gzipSync(ndjson),
    'a.ndjson.zst': zstdCompressSync(ndjson),
    'array.json': ` [ {"id":1,"company_id":7,"name":"[one]"} ,\n{"id":2,"company_id":7,"name":"},\\"{"}]\n`,
    'lines.json': ndjson,
    'gzip.csv': gzipSync(csv),
    'zstd.csv': zstdCompressSync(csv),
    'zstd.csv.gz': zstdCompressSync(csv),
    'text.csv.gz': csv,
    'text.ndjson.zst': ndjson,
    'gzip.ndjson': gzipSync(ndjson),
    'lines.geojson': ndjson,
  }
  for (const [name, bytes] of Object.entries(files)) {
    test(name, async (t) => {
      const { db, load } = folderWith(t, { [name]: bytes })
      const { counts, problems } = await load('rights', [name])
      assert.deepEqual([counts.inserted, problems], [2, []])
      assert.equal(queryValue(db, "select count(*) from rights_view where name like '%one%'"), 1)
    })
  }
})

const html = '<!DOCTYPE html>\n<html><body>Please log in</body></html>\n'
const lfs = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n'
const table = 'id;company_id;name\n1;7;one\n2;7;two\n'

/** Files that are something else, and what is said of them. */
const refused: Readonly<Record<string, RefusedFile>> = {
  'empty.ndjson.gz': ['', /empty\.ndjson\.gz is empty; get the file again$/],
  'empty.csv.zst': ['', /is empty; get the file again$/],
  'empty.zip': ['', /is empty; get the file again$/],
  'empty.parquet': ['', /is empty; get the file again$/],
  'no.csv.gz': [Buffer.from([1, 2, 3]), /no\.csv\.gz.*not a valid gzip file/],
  'far.csv.zst': [
    // A frame with a window of 2 GiB.
    Buffer.from('28b52ffd00a8010000', 'hex'),
    /far\.csv\.zst takes more memory .*; decompress it first: zstd -d --long=31 .*far\.csv\.zst$/,
  ],
  'open.csv': ['id,company_id\n1,"7\n2,7\n', /open\.csv: line 2: a quote is not closed/],
  'typo.csv': ['id,compny_id\n1,7\n', /compny_id \(did you mean company_id\?\)/],
  'upper-case.csv': ['ID,company_id\n1,7\n', /ID \(did you mean id\?\)/],
  'unnamed.csv': [
    'id,,name\n1\n',
    /column 2 of the header, after id, has no name; give each .*--skip-lines 1 --col/,
  ],
  'first.csv': [',name\n1\n', /column 1 of the header has no name/],
  'alike.csv': [
    'id,Name,name\n1\n',
    /which differ only in case; rename one .*, or name all columns: --skip-lines 1 --col/,
  ],
  'quote.csv': ['id,"na,me\n1\n', /in the header, a quote is not closed in column 2, "na,me/],
  'after.csv': ['id,"na,me\n1,"x",y\n1\n', /text follows .* quote in column 2, "na,me\\n1,"; corr/],
  'behind.csv': ['"id" x;name\n1\n', /text follows a closing quote in column 1, "id"/],
  'empty.csv': ['', /is empty/],
  'all.csv.bz2': [
    '',
    /all\.csv\.bz2 is an archive, or compressed in a way that is not read; unpack it, and/,
  ],
  'what.xyz': ['', /unknown format/],
  'rows.csv.constructor': ['id\n1\n', /unknown format/],
  'page.csv': [html, /is an HTML page, such as a login or an error in place of a download; look/],
  'page.ndjson.gz': [gzipSync(`\n${html}`), /is an HTML page/],
  'pointer.csv': [lfs, /is a Git LFS pointer, not the file itself; fetch it: git lfs pull/],
  'pointer.parquet': [lfs, /is a Git LFS pointer/],
  'paper.csv': ['%PDF-1.7\n%\xe2\xe3', /is a PDF document; export its table as CSV/],
  'old.csv': [Buffer.from('d0cf11e0a1b11ae1', 'hex'), /is an old Excel workbook; save its sheet/],
  'base.csv': ['abc\0\x01\n', /the header contains a NUL character; is this a text file/],
  'packed.csv': [Buffer.from('BZh91AY&SY'), /is an archive, or compressed/],
  'rar.csv': [Buffer.from('Rar!\x1a\x07\x01\0\xff', 'latin1'), /is an archive, or compressed/],
  'lz4.ndjson': [Buffer.from('04224d1864', 'hex'), /is an archive, or compressed/],
  'twice.csv.gz': [gzipSync(gzipSync(csv)), /is an archive, or compressed/],
  'rows.tar.gz': [csv, /is an archive, or compressed/],
  'tar.csv.gz': [gzipSync(`a.csv${'\0'.repeat(252)}ustar\0`), /is an archive, or compressed/],
  'all.csv.lz4': ['', /is an archive, or compressed/],
  'all.pdf': ['', /is a PDF document; export its table as CSV, or ask for the data$/],
  'all.html': ['', /is an HTML page, .*; look at it in a browser, and download the file again$/],
  'all.7z': ['', /is an archive, or compressed/],
  'page.xml': ['<x/>', /is XML; convert it to NDJSON or CSV, .* in docs\/mappings\.md$/],
  'named.csv': ['<?xml version="1.0"?><a/>', /is XML; /],
  'c.xls': ['\xd0\xcf\x11\xe0', /is an old Excel workbook; .* its sheet as "CSV UTF-8"$/],
  // As a spreadsheet writes an empty row.
  'cells.csv': [`,,\n${csv}`, /its first line is blank; add --skip-lines 1$/],
  'blank.csv': [`\n${csv}`, /its first line is blank; add --skip-lines 1$/],
  'sheet.csv': [
    `Register of companies,,\n${csv}`,
    /only the first has a name, "Register of companies"; if that is a title, add --skip-lines 1$/,
  ],
  'a.xml': ['<x/>', /is XML; convert it/, { format: 'csv' }],
  'object.csv': [ndjson, /is JSON, not CSV; add --format ndjson$/],
  'array.csv': [`[\n  ${ndjson}]`, /is JSON, not CSV; add --format json$/],
  'array.ndjson': [`[${ndjson}]`, /is a JSON array; add --format json$/],
  'empty.ndjson': ['[]', /is a JSON array; add --format json$/],
  'table.ndjson': [table, /is not JSON: it begins with "id;company_id;.*; if .* add --format csv$/],
  'table.json': ['"id","company_id"\n1,7\n', /is not JSON: it begins with .*--format csv$/],
  'text.parquet': [csv, /is text, not Parquet; add --format csv$/],
  'pretty.json': [
    pretty,
    /is one JSON object; .*: --records features or --records data\.items; if .*: jq -c \. /,
  ],
  'pretty.ndjson': [pretty, /is one JSON object; .*--records features/],
  'row.ndjson': [
    '{"no":1,"names":["one"]}\n',
    /is one JSON object; .*: --records names; if it is a row itself: --format ndjson$/,
  ],
  'map.geojson': [JSON.stringify(object), /is one JSON object; .*--records features/],
  'long.json': [
    `{"data":{"items":[${Array(20_000).fill('{"id":1}').join()}]}}`,
    /is one JSON object; .*--records data\.items; /,
  ],
  'row-with-list.json': [
    '{"no":{"names":["one"]}}\n',
    /--records no\.names; if it is a row itself: --format ndjson$/,
  ],
  'row-of-lines.json': [
    '{\n"no":{"names":["one"]}}\n',
    /: jq -c \. \S+row-of-lines\.json > rows\.ndjson, and then --format ndjson$/,
  ],
  // Whoever names files and members must not write commands that an operator may paste.
  "it's; $(id).json": [
    '{\n"a; $(id)":[{"no":1}]}\n',
    /--records 'a; \$\(id\)'; .*: jq -c \. '\S+it'\\''s; \$\(id\)\.json' > rows\.ndjson/,
  ],
  'rows.json': ['{\n "id": 1\n}\n{\n "id": 2\n}\n', /is .* on several lines, .* jq -c \. \S+rows/],
  'other.csv': ['id^name\n1^x\n', /the header is one cell, "id\^name"; add --delimiter '\^'$/],
  'tab.csv': [
    'id\tname\n1\tx\n',
    /one cell, "id\\tname"; add --delimiter tab$/,
    { delimiter: ',' },
  ],
  'semicolon.tsv': [table, /the header is one cell, .*; add --delimiter ';'$/],
  'control.csv': ['id\x01name\n1\x01x\n', /; add --delimiter \$'\\x01'$/],
  'widths.csv': ['00000007one\n', /; for columns of fixed widths, see docs\/mappings\.md$/],
  'title.csv': [
    `Rights, as of 2026-11-01\n\n${csv}`,
    /begins with "Rights, as .*", which has 2 cells, .* from line 3 on have 3; add --skip-lines 2$/,
    { delimiter: ',' },
  ],
  'remark.csv': [
    '# Rights, Mon, 2026-11-02\nid,company_id\n1,7\n2,7\n',
    /begins with "# Rights, .*", which has 3 cells, .* line 2 on have 2; add --skip-lines 1$/,
  ],
  'title-with-comma.csv': [
    'Rights, as of 2026-11-01\nid;company_id;name\n1;7;one\n2;7;two\n',
    /begins with "Rights, as .*", which has 1 cell, .* line 2 on have 3; add --skip-lines 1$/,
  ],
  'title-one-row.csv': [
    'Rights of 2026\nid,company_id,name\n1,7,one\n',
    /begins with "Rights of 2026", which has 1 cell, .* line 2 on have 3; add --skip-lines 1$/,
  ],
  'title-decimal-commas.csv': [
    'Rights\nof 2026\n\nid;company_id;name\n1;7;1,5\n2;7;2,5\n3;7;3,5\n',
    /begins with "Rights", .* from line 4 on have 3; add --skip-lines 3$/,
  ],
  'title-and-total.csv': [
    'Rights\n\nid;company_id;name\n1;7;one\n2;7;two\nTotal: 2\n',
    /begins with "Rights", .* from line 3 on have 3; add --skip-lines 2$/,
  ],
  'table.csv': ['<table><tr><td>id</td></tr></table>', /is an HTML page/],
  'comment.csv': ['<!-- saved from -->\n<html></html>', /is an HTML page/],
  'title-no-rows.csv': [
    'Rights of 2026\nid,company_id,name\n',
    /begins with "Rights of 2026", which has 1 cell, .* line 2 on have 3; add --skip-lines 1$/,
  ],
  'sep.csv': [`sep=;\n${table}`, /begins with "sep=;", a line for Excel; add --skip-lines 1$/],
  'sep-comma.csv': [`sep=,\r\n${csv}`, /begins with "sep=,", a line for .*; add --skip-lines 1$/],
  'sep-quoted.csv': [`"sep=,"\n${csv}`, /begins with .*, a line for Excel; add --skip-lines 1$/],
  'sep-tab.csv': [
    `sep=\t\n${csv.replaceAll(',', '\t')}`,
    /begins with "sep=\\t", a line for Excel; add --skip-lines 1$/,
  ],
  'names.csv': [
    '1,7,one\n2,7,two\n',
    /first line looks like data, .*; name the columns with --columns$/,
  ],
  'wide.csv': [Buffer.from(csv, 'utf16le'), /looks like UTF-16; add --encoding utf-16le$/],
  'wide-latvian.csv': [
    Buffer.from(`${csv}3,7,Ātra\n`, 'utf16le'),
    /looks like UTF-16; add --encoding utf-16le$/,
  ],
  'wide.ndjson': [Buffer.from(ndjson, 'utf16le').swap16(), /add --encoding utf-16be$/],
  'utf32.csv': [Buffer.from('fffe0000690000006400', 'hex'), /is UTF-32, which is not supported/],
  'mark.csv': [
    `\uFEFF${csv}`,
    /begins with the byte order mark of utf-8, but --encoding is .*; leave out --encoding/,
    { encoding: 'windows-1251' },
  ],
  'unmarked.csv': [csv, /has no byte order mark; name the byte order/, { encoding: 'utf-16' }],
}

test('a text may begin as files of another kind do', async (t) => {
  for (const name of ['ORCID', 'PAR1']) {
    const { load } = folderWith(t, { 'a.csv': `${name},id,company_id\n1,2,7\n` })
    const { counts } = await load('rights', ['a.csv'], {
      mapping: 'select id, company_id from source',
    })
    assert.equal(counts.inserted, 1)
  }
})

test('lines are skipped in CSV alone, not in JSON beside it', async (t) => {
  const row = (id: number) => `{"id":${id},"company_id":7,"name":"json"}`
  const { load, records } = folderWith(t, {
    'a.csv': `Title\n${csv}`,
    'b.ndjson': `${row(3)}\n${row(4)}\n`,
    'c.json': `[\n${row(5)}\n]`,
  })
  await load('rights', ['a.csv', 'b.ndjson', 'c.json'], { file: { skippedLines: 1 } })
  const ids = records('rights').map(({ id }) => id)
  assert.deepEqual(ids, [1, 2, 3, 4, 5])
})

test('a line that may be a row or an object with rows is what --format says', async (t) => {
  const { load } = folderWith(t, { 'a.ndjson': '{"no":1,"names":["one"]}\n' })
  const mapping = "select no as id, 7 as company_id, names->>'$[0]' as name from source"
  const { counts } = await load('rights', ['a.ndjson'], { mapping, file: { format: 'ndjson' } })
  assert.equal(counts.inserted, 1)
})

describe('a file that is something else is refused, with what to do (G10, G13)', () => {
  for (const [name, file] of Object.entries(refused)) {
    test(name, (t) => refuseFile(t, name, file))
  }

  test('Parquet named .csv', async (t) => {
    const { load, folder } = folderWith(t, {})
    await writeParquet(join(folder, 'rows.csv'), 'select 1 as id')
    await assert.rejects(load('rights', ['rows.csv']), /rows\.csv is Parquet; .* --format parquet$/)
  })
})

const python = spawnSync('python3', ['--version']).error && 'there is no python3'

test('XML is read as the guide shows', { skip: python }, async (t) => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/mappings.md'), 'utf8')
  const program = /^```python rows\.py\n([^]*?)^```$/m.exec(guide)?.[1] ?? ''
  const input = Buffer.from(
    '<?xml version="1.0" encoding="iso-8859-1"?><a:ALL xmlns:a="a:b"><a:RECORD id="01">' +
      '<NAME>Zoé &amp; "2"</NAME><BY>A</BY><BY>B</BY><EMPTY/></a:RECORD></a:ALL>',
    'latin1',
  )
  const { stdout } = spawnSync('python3', ['-c', program, 'RECORD'], { input })
  const { load, records } = folderWith(t, { 'a.ndjson': stdout })
  const mapping = `select "@id" as key, 7 as company_id, "NAME" as name, "BY" as holders from source`
  await load('rights', ['a.ndjson'], { mapping })
  assert.match(JSON.stringify(records('rights')), /"name":"Zoé & \\"2\\"".*"holders":\["A","B"\]/)
})

describe('--records names the array in a JSON object', () => {
  const rows = [
    { id: 1, company_id: 7, name: 'features' },
    { id: 2, company_id: 7, name: '}]"' },
  ]
  const files: Readonly<Record<string, readonly [value: unknown, records: string]>> = {
    'a.geojson': [{ type: 'FeatureCollection', features: rows, bbox: [1, [2]] }, 'features'],
    'b.json': [{ meta: { items: [{ items: [1] }] }, data: { n: '{', items: rows } }, 'data.items'],
    'c.ndjson': [{ 'Ergebnis "1"': rows }, 'Ergebnis "1"'],
  }
  for (const [name, [value, records]] of Object.entries(files)) {
    for (const indent of [0, 2]) {
      for (const mapping of [undefined, 'select * exclude (source_file, source_row) from source']) {
        test(`${name} ${records} ${indent} ${mapping ?? ''}`, async (t) => {
          const text = JSON.stringify(value, undefined, indent)
          const { load, records: stored } = folderWith(t, { [name]: `\uFEFF${text}\n` })
          const { counts } = await load('rights', [name], { file: { records }, mapping })
          assert.equal(counts.inserted, 2)
          assert.match(JSON.stringify(stored('rights')), /"name":"features".*"name":"}]\\""/)
        })
      }
    }
  }

  const faulty: Readonly<Record<string, readonly [text: string, records: string, says: RegExp]>> = {
    'other name': [JSON.stringify(object), 'feature', /did you mean --records features\?$/],
    'no such array': [JSON.stringify(object), 'rows', /no array .* it has features, data\.items$/],
    'no array': ['{"a":1}', 'rows', /no array rows; it has no array$/],
    'not an array': ['{"rows":{"a":[1]}}', 'rows', /did you mean --records rows\.a\?$/],
    'an array itself': ['[{"id":1}]', 'rows', /is an array itself; leave out --records$/],
    'an array twice': ['{"rows":[],"rows":[]}', 'rows', /has the array rows twice$/],
    'cut off': ['{"rows":[{"id":1,"company_id":7}],', 'rows', /ends in the middle of its JSON obj/],
    'cut off, and what to do': ['{"rows":[{"id":1},', 'rows', /JSON object; download it again$/],
    empty: ['\n', 'rows', /a\.json is empty; download it again$/],
    'wrong bracket': ['{"rows":[{"id":1}]]', 'rows', /closes its JSON object with the wrong/],
    'content after it': ['{"rows":[]} x', 'rows', /content before or after/],
  }
  for (const [what, [text, records, says]] of Object.entries(faulty)) {
    test(`refused: ${what}`, (t) => refuseFile(t, 'a.json', [text, says, { records }]))
  }
})
