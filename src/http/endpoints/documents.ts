// The reference page: Swagger UI over our own document, without a request to any other host.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { chooseCoding, encode, varyByCoding } from '../wire/coding.ts'
import { type Endpoint, readMethods } from './endpoint.ts'

/** What the documents have in common: they need no key, and are no part of the interface. */
const publicDocument = { methods: readMethods, scope: undefined, operation: undefined } as const

const assetFolder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

const assetTypes: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

// Swagger UI sets style attributes and has its icons as data; all else comes from this host.
const contentSecurityPolicy =
  "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Dossier: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

const startScript = `SwaggerUIBundle({
  url: '../openapi.json'.slice(location.pathname.endsWith('/') ? 0 : 3),
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

/** The OpenAPI document, and the reference page that shows it. */
export const documents: readonly Endpoint[] = [
  {
    ...publicDocument,
    path: '/openapi.json',
    createHandler: (service) => {
      const text = service.openApiText()
      return (_request, reply) =>
        reply.header('content-type', 'application/json; charset=utf-8').send(text)
    },
  },
  {
    ...publicDocument,
    path: '/docs',
    createHandler: () => (_request, reply) =>
      reply
        .header('content-type', 'text/html; charset=utf-8')
        .header('content-security-policy', contentSecurityPolicy)
        .send(page),
  },
  {
    ...publicDocument,
    path: '/docs/start.js',
    createHandler: () => (_request, reply) =>
      reply.header('content-type', 'text/javascript; charset=utf-8').send(startScript),
  },
  ...Object.entries(assetTypes).map(([asset, type]) => assetEndpoint(asset, type)),
]

function assetEndpoint(asset: string, type: string): Endpoint {
  return {
    ...publicDocument,
    path: `/docs/${asset}`,
    createHandler: () => async (request, reply) => {
      const body = await readFile(join(assetFolder, asset))
      const coding = chooseCoding(request.headers['accept-encoding'])
      if (coding !== 'identity') void reply.header('content-encoding', coding)
      return varyByCoding(reply)
        .header('content-type', type)
        .header('cache-control', 'max-age=3600')
        .send(await encode(body, coding))
    },
  }
}
