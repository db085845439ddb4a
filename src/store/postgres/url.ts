// The URL of a store in PostgreSQL. (This file and errors.ts do not import the driver, which is
// loaded only for such a store.)

import { OperatorError } from '../../operator-error.ts'

const schemaName = /^[a-z_][a-z0-9_]{0,62}$/

/** The schema that a URL names; if undefined, the server's `search_path` applies. */
export function schemaIn(db: string): string | undefined {
  const schema = parseUrl(db).searchParams.get('schema')
  if (schema === null) return undefined
  if (schemaName.test(schema)) return schema
  throw new OperatorError(
    `${describeUrl(db)}: ?schema= takes up to 63 lowercase letters, digits and underscores`,
  )
}

/** @throws OperatorError that shows the form of a URL. */
export function parseUrl(db: string): URL {
  try {
    return new URL(db)
  } catch {
    throw new OperatorError(
      'the URL of the store is malformed; write it like postgres://user@host:5432/database, ' +
        'with special characters of a password percent-encoded',
    )
  }
}

/** A URL without its password, for messages and logs. */
export function describeUrl(db: string): string {
  if (!URL.canParse(db)) return 'the store'
  const url = new URL(db)
  url.password = ''
  url.searchParams.delete('password')
  url.searchParams.delete('sslpassword')
  return url.href
}
