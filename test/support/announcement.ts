// Checks answers against the service's OpenAPI document.

import assert from 'node:assert/strict'
import type { Answer, Question, TestApp } from './make-app.ts'
import { resolve, validatorFor } from './json-schema.ts'

export interface Media {
  readonly schema: unknown
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>
}
export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, Media>>
}
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly unknown[]
  readonly responses: Readonly<Record<string, unknown>>
}
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description: string
  readonly schema: unknown
  readonly example: unknown
}
interface PathItem {
  readonly parameters?: readonly unknown[]
  readonly get: Operation
}
export interface Document extends Readonly<Record<string, unknown>> {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/**
 * Reads an application's document; returns a function that asks for one of its paths with a query,
 * and checks that the answer is announced.
 *
 * @param at is the path with its parameters filled in.
 */
export async function askAnnounced({ ask }: Pick<TestApp, 'ask'>, path: string, at = path) {
  const document = JSON.parse((await ask('/openapi.json')).text) as Document
  const { checkAnnounced } = readAnnouncement(document)
  const operation = document.paths[path]?.get ?? assert.fail(path)
  return async (query = '', question?: Question): Promise<Answer> => {
    const answer = await ask(at + query, question)
    checkAnnounced(operation, answer)
    return answer
  }
}

/** Headers of HTTP itself, of which a document says nothing. */
const ownHeader =
  /^(connection|keep-alive|date|content-(type|length|encoding)|transfer-encoding|vary|x-content-)/

/** Reads a document, for look-ups and for checking answers. */
export function readAnnouncement(document: Document) {
  const validate = validatorFor(document)

  /** A part of the document, with its reference resolved. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names the shape
  function deref<Part>(part: unknown): Part {
    const { $ref } = part as { $ref?: string }
    return ($ref === undefined ? part : resolve(document, $ref)) as Part
  }

  return {
    deref,
    /** @throws AssertionError if a value breaks a schema. */
    validate,
    /** The responses of an operation, by status. */
    responsesOf: ({ responses }: Operation) =>
      Object.entries(responses).map(([status, part]) => [status, deref<Response>(part)] as const),
    /** @throws AssertionError that names the difference from what the document announces. */
    checkAnnounced: (
      operation: Operation,
      given: Pick<Answer, 'status' | 'headers' | 'text'>,
    ): void => {
      const part = operation.responses[String(given.status)]
      assert.ok(part, `${operation.operationId} does not announce ${given.status}`)
      const { headers, content } = deref<Response>(part)
      for (const [name, header] of Object.entries(headers)) {
        const value = given.headers[name.toLowerCase()]
        const { required, schema } = deref<{ required?: true; schema: { type: string } }>(header)
        // The version of a 404 may be one that is yet to come; the others always say when.
        const isThere = required ?? (name === 'Retry-After' && given.status !== 404)
        if (value === undefined && !isThere) continue
        assert.ok(value !== undefined, `${operation.operationId} ${given.status}: ${name} misses`)
        validate(schema, schema.type === 'integer' ? Number(value) : value, name)
      }
      const announced = Object.keys(headers).map((name) => name.toLowerCase())
      for (const name of Object.keys(given.headers)) {
        const isKnown = announced.includes(name) || ownHeader.test(name)
        assert.ok(isKnown, `${operation.operationId} ${given.status}: ${name} is not announced`)
      }
      if (content === undefined) return assert.equal(given.text, '')
      const type = given.headers['content-type']?.split(';', 1)[0] ?? ''
      assert.ok(content[type], `${type} is not announced`)
      const isJson = type === 'application/json'
      validate(content[type].schema, isJson ? JSON.parse(given.text) : given.text)
    },
  }
}
