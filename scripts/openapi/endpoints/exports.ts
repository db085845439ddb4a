// Complete copies: which there are, their manifests and files.

import { exportFormats } from '../../../src/store/exports/manifest.ts'
import { answerHeaders } from '../components.ts'
import { rangeStatus } from '../failures.ts'
import { describeTagged, type Operation } from '../operation.ts'
import { countSchema, momentSchema, objectOf, okSchema, schemaRef, shortText } from '../schemas.ts'

const version = { ...countSchema, minimum: 1, description: 'The version that it is a copy of' }
const cursor = { ...shortText, description: 'The `after` of the changes since' }
const digest = { type: 'string', pattern: '^[0-9a-f]{64}$', maxLength: 64 }

const entry = objectOf('A complete copy', {
  version,
  committed_at: { ...momentSchema, description: 'When the version was committed' },
  cursor,
  manifest: { ...shortText, description: 'The path of its manifest' },
  records: { ...countSchema, description: 'Number of records in it' },
  bytes: { ...countSchema, description: 'Size of its files' },
})

const file = objectOf('A file of a copy', {
  format: { type: 'string', enum: exportFormats, description: 'How its records are written' },
  records: { ...countSchema, description: 'Number of its records' },
  name: { ...shortText, description: 'Its name, next to the manifest' },
  bytes: { ...countSchema, description: 'Its size' },
  sha256: { ...digest, description: 'Its SHA-256' },
})

const resource = objectOf('The records of a listing, or the companies, in a copy', {
  resource: { ...shortText, description: 'The listing, or `companies`' },
  records: { ...countSchema, description: 'Number of records' },
  companies: { ...countSchema, description: 'Number of companies that have them' },
  sha256: { ...digest, description: 'Of all records as NDJSON, before compression' },
  files: { type: 'array', maxItems: 100_000, items: schemaRef('ExportedFile') },
})

const manifest = objectOf('The contents of a complete copy', {
  registry: { ...shortText, description: 'The random id of the registry' },
  version,
  committed_at: { ...momentSchema, description: 'When the version was committed' },
  cursor,
  resources: { type: 'array', maxItems: 1_000, items: schemaRef('ExportedResource') },
})

const exampleEntry = {
  ...{
    version: 17,
    committed_at: '2024-02-01T03:00:12.345Z',
    cursor: '17.5d1c3f9a1c0b7d2e.lkxj9o4x',
  },
  ...{ manifest: '/api/v1/exports/17/manifest.json', records: 128_000_000, bytes: 9_000_000_000 },
}

export function describeExports(): Operation {
  return describeTagged({
    id: 'list_exports',
    tag: 'registry',
    summary: 'Complete copies of the registry',
    description:
      'The copies that the operator offers as files, latest version first. Load one, and ' +
      'continue with the changes since its `cursor`.',
    parameters: [],
    answer: {
      description: 'The copies',
      schema: 'Exports',
      example: { ok: true, exports: [exampleEntry] },
    },
    namesNothing: true,
    unchanged: 'The copies have not changed',
    schemas: {
      Export: entry,
      Exports: objectOf('Complete copies', {
        ok: okSchema,
        exports: { type: 'array', maxItems: 100, items: schemaRef('Export') },
      }),
    },
  })
}

// Without the format, generated clients decode the file as text.
const bytes = { type: 'string', format: 'binary', maxLength: Number.MAX_SAFE_INTEGER }

const versionParameter = {
  ...{ name: 'version', in: 'path', required: true, description: 'The version of the copy' },
  ...{ schema: version, example: 17 },
}

export function describeManifest(): Operation {
  return describeTagged({
    id: 'get_export_manifest',
    tag: 'registry',
    summary: 'Manifest of a complete copy',
    description:
      'The contents of the copy: its files with their sizes and SHA-256, and the cursor from which ' +
      'to follow changes. A copy with data that was withheld since is a 410.',
    parameters: [versionParameter],
    answer: { description: 'The manifest', schema: 'Manifest' },
    unchanged: 'The copy is the same',
    schemas: { ExportedFile: file, ExportedResource: resource, Manifest: manifest },
  })
}

export function describeExportFile(): Operation {
  const whole = describeTagged({
    id: 'get_export_file',
    tag: 'registry',
    summary: 'File of a complete copy',
    description:
      'A file that the manifest names. It can be requested in parts (`Range`, `If-Range`), so ' +
      'that an interrupted transfer can continue.',
    parameters: [
      versionParameter,
      {
        ...{ name: 'file', in: 'path', required: true, description: 'The name of the file' },
        ...{ schema: shortText, example: 'companies-1.ndjson.zst' },
      },
      'Range',
      'If-Range',
    ],
    answer: {
      description: 'The whole file',
      headers: fileHeaders,
      otherTypes: fileTypes,
    },
    unchanged: 'The file is the same',
  })
  const part = {
    description: 'The requested part of the file',
    headers: answerHeaders([...fileHeaders, 'Content-Range']),
    types: fileTypes,
  }
  return {
    ...whole,
    answers: { ...whole.answers, 206: part },
    failures: [...whole.failures, rangeStatus],
  }
}

const fileTypes = {
  'application/zstd': { schema: bytes, example: '' },
  'application/vnd.apache.parquet': { schema: bytes, example: '' },
}
const fileHeaders = ['Accept-Ranges', 'Repr-Digest', 'Content-Disposition']
