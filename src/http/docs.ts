// The reference page: Swagger UI over our own document, without a request to any other host.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { OpenApi } from './openapi.ts'
import type { StaticAssets } from './static-assets.ts'

const docsPaths = { document: '/openapi.json', page: '/docs' } as const

const packageFile = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')

const scriptType = 'text/javascript; charset=utf-8'
const styleType = 'text/css; charset=utf-8'

/** A key is typed into the page: nothing of another host may run in it, frame it or learn of it. */
const pageHeaders = {
  // Swagger UI sets style attributes and has its icons as data; all else comes from this host.
  'content-security-policy':
    "default-src 'none'; connect-src 'self'; script-src 'self'; " +
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}
const fileHeaders = { 'cross-origin-resource-policy': 'same-origin' }

/** The page; its files stand in the folder `docs` beside it. */
const pageOf = (files: { style: string; bundle: string; start: string }) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Dossier: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/${files.style}">
  </head>
  <body>
    <div id="reference"></div>
    <script src="docs/${files.bundle}"></script>
    <script src="docs/${files.start}"></script>
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

/** Adds the OpenAPI document and the page that shows it. */
export function addDocs(assets: StaticAssets, document: OpenApi): void {
  const addFile = (name: string, type: string, body: Buffer) =>
    assets.addFile({ path: `${docsPaths.page}/${name}`, type, body, headers: fileHeaders })
  const addPackageFile = (name: string, type: string) =>
    addFile(name, type, readFileSync(join(dirname(packageFile), name)))
  const page = pageOf({
    style: addPackageFile('swagger-ui.css', styleType),
    bundle: addPackageFile('swagger-ui-bundle.js', scriptType),
    start: addFile('start.js', scriptType, Buffer.from(startScript)),
  })
  assets.addDocument({
    path: docsPaths.page,
    type: 'text/html; charset=utf-8',
    body: Buffer.from(page),
    headers: pageHeaders,
  })
  assets.addDocument({
    path: docsPaths.document,
    type: 'application/json; charset=utf-8',
    body: Buffer.from(JSON.stringify(document)),
  })
}
