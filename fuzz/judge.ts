// Checks responses against the service's own OpenAPI document and the contract.

import assert from 'node:assert/strict'
import { pathOf } from '../src/http/stages.ts'
import { type Document, type Operation, readAnnouncement } from '../test/support/announcement.ts'
import { failureText } from '../test/support/make-app.ts'
import type { Received } from './wire.ts'

/** The properties of a request that determine its allowed responses. */
export interface Asked {
  readonly method: string
  readonly target: string
  /** Whether its key gives access to the requested listing, if it requests one. */
  readonly isEntitled: boolean
}

export interface Judge {
  /** @throws AssertionError if the response to a request is not one of those in the document. */
  judge: (asked: Asked, answer: Received) => void
  /** Judges a response to an unknown request. */
  judgeAny: (answer: Received) => void
}

/** Statuses of the HTTP layer and of unknown paths, which are not in the document. */
const statusesOfNone = [400, 403, 404, 405, 408, 413, 415, 417, 429, 431, 505]
/** Refusals that precede authentication. */
const beforeTheKey = [400, 408, 413, 417, 431, 505]

/** The types of the documents, and of the files of pages. */
const ownType =
  /^(?:text\/(?:html|css|javascript|markdown|plain)|application\/json); charset=utf-8$/

export function createJudge(document: Document): Judge {
  const { checkAnnounced, validate } = readAnnouncement(document)
  const operations = Object.entries(document.paths).map(([path, { get }]) => ({
    pattern: new RegExp(`^${path.replace('{company_id}', '[^/]+').replace('{listing}', '\\w+')}$`),
    operation: get,
  }))
  const exporting = operations.find(({ operation }) => operation.operationId === 'export_listing')
  /** Finds the operation that a body belongs to: its second member names the listing. */
  const operationOf = (body: object) => {
    const suffix = `_${Object.keys(body)[1] ?? 'live'}`
    return operations.find(({ operation }) => operation.operationId.endsWith(suffix))?.operation
  }

  function judgeFailure(answer: Received): void {
    const { text, status, headers } = answer
    validate({ $ref: '#/components/schemas/Failure' }, JSON.parse(text))
    const { error } = JSON.parse(text) as { error: { message: string } }
    assert.equal(text, failureText(status, error.message), 'the code is the status')
    assert.equal(headers['cache-control'], 'no-store')
  }

  function judgeKnown(operation: Operation, { method }: Asked, answer: Received): void {
    if (method !== 'HEAD') return checkAnnounced(operation, answer)
    const isOfParser = answer.headers['connection'] === 'close'
    assert.ok(answer.text === '' || isOfParser, 'an answer to HEAD has no body')
    assert.ok(operation.responses[answer.status], `${answer.status} is not announced`)
  }

  /** Judges responses for paths that are not in the document: its own pages, and unknown paths. */
  function judgeUnknown({ method }: Asked, answer: Received): void {
    // The pages have entity tags, so a condition in the request may end in a 304.
    assert.ok([200, 304, ...statusesOfNone].includes(answer.status), `status ${answer.status}`)
    if (answer.status === 200 && method !== 'HEAD') {
      assert.match(answer.headers['content-type'] ?? '', ownType)
    }
  }

  return {
    judge(asked, answer) {
      judgeCommon(answer)
      const path = pathOf(asked.target)
      const isText = /^(?:text\/csv|application\/x-ndjson)/.test(
        answer.headers['content-type'] ?? '',
      )
      const known = isText ? exporting : operations.find(({ pattern }) => pattern.test(path))
      if (known) judgeKnown(known.operation, asked, answer)
      else judgeUnknown(asked, answer)
      if (answer.status >= 400 && answer.text !== '') judgeFailure(answer)
      else assert.ok(answer.status < 400 || asked.method === 'HEAD', 'a failure without a body')
      if (!asked.isEntitled && path.startsWith('/api/')) {
        const isBefore = beforeTheKey.includes(answer.status)
        assert.ok(isBefore || answer.status === 403, `${answer.status} without a key`)
      }
      // This holds for any spelling of a listing's path.
      const isPage = answer.text.startsWith('{"ok":true,"')
      assert.ok(asked.isEntitled || !isPage, 'data without a key')
    },
    judgeAny(answer) {
      judgeCommon(answer)
      if (answer.status === 200 && answer.text !== '') {
        const type = answer.headers['content-type'] ?? ''
        if (!type.startsWith('application/json')) return assert.match(type, ownType)
        const operation = operationOf(JSON.parse(answer.text) as object)
        assert.ok(operation, 'the body of a 200 is none of the announced ones')
        return checkAnnounced(operation, answer)
      }
      assert.ok([200, 304, ...statusesOfNone].includes(answer.status), `status ${answer.status}`)
      // The response may be one to HEAD, which has no body.
      if (answer.text !== '') judgeFailure(answer)
    },
  }
}

/** Checks what every response has, whichever layer sent it. */
function judgeCommon({ status, headers }: Received): void {
  assert.ok(status < 500 || status === 505, `status ${status}`)
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]{1,64}$/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  for (const name of ['server', 'x-powered-by', 'set-cookie', 'access-control-allow-origin']) {
    assert.equal(headers[name], undefined, name)
  }
}
