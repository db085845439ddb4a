// The documents: OpenAPI, the client's guide, and the reference page, which is Swagger UI over our
// own document, without a request to any other host.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import {
  addressedEndpoint,
  type Asset,
  documentEndpoint,
  filesEndpoint,
  hashedName,
  keptForGood,
  makeAsset,
  onDemand,
  revalidated,
} from '../static-assets.ts'
import { contentPolicy, pageHeaders } from '../answers/page-headers.ts'
import type { Endpoint } from './endpoint.ts'

const packageFile = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')

const scriptType = 'text/javascript; charset=utf-8'
const styleType = 'text/css; charset=utf-8'
const markdownType = 'text/markdown; charset=utf-8'
const textType = 'text/plain; charset=utf-8'

/** As strict as the explorer's, but for what Swagger UI needs: its icons, and a policy. */
const headers: Readonly<Record<string, string>> = {
  ...pageHeaders,
  'content-security-policy': contentPolicy({
    images: "'self' data:",
    // Its markup is made of our own document, by its own sanitiser.
    trustedTypes: 'default dompurify',
  }),
}
const fileHeaders = { 'cross-origin-resource-policy': 'same-origin' }

/** The page; its files are in the folder `docs` beside it. */
const pageOf = ({ style, bundle, start }: ReferenceFiles, isExplorerOn: boolean) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Dossier: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/${hashedName(style)}">
  </head>
  <body>
    <nav class="swagger-ui"><div class="wrapper">
      <p>${isExplorerOn ? explorerLink : ''}${guideLink}</p>
    </div></nav>
    <div id="reference"></div>
    <script src="docs/${hashedName(bundle)}"></script>
    <script src="docs/${hashedName(start)}"></script>
  </body>
</html>
`

const guideLink = `<a class="link" href="docs/client.md">Guide to the API</a>`
const explorerLink = `<a class="link" href="./">Explorer: look at companies</a> · `

// The policy lets markup pass, as Swagger UI expects, but no script and no address of one.
const startScript = `
const createHTML = (text) => text
globalThis.trustedTypes?.createPolicy('default', { createHTML })
SwaggerUIBundle({
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

/** The files of the page. */
type ReferenceFiles = Readonly<Record<'style' | 'bundle' | 'start', Asset>>

/** They are 2 MB, which servers that nobody asks for them do not keep. */
const referenceFiles = onDemand(async (): Promise<ReferenceFiles> => {
  const file = (name: string, type: string, body: Buffer) =>
    makeAsset({ path: `/docs/${name}`, type, body, headers: fileHeaders })
  const packaged = async (name: string, type: string) =>
    file(name, type, await readFile(join(dirname(packageFile), name)))
  return {
    style: await packaged('swagger-ui.css', styleType),
    bundle: await packaged('swagger-ui-bundle.js', scriptType),
    start: file('start.js', scriptType, Buffer.from(startScript)),
  }
})

/** The OpenAPI document, the reference page that shows it, and the client's guide. */
export function documents({
  isExplorerOn,
}: {
  readonly isExplorerOn: boolean
}): readonly Endpoint[] {
  return [
    documentEndpoint('/docs', async () =>
      makeAsset({
        path: '/docs',
        type: 'text/html; charset=utf-8',
        body: Buffer.from(pageOf(await referenceFiles(), isExplorerOn)),
        headers,
      }),
    ),
    documentEndpoint('/openapi.json', ({ openApiText }) =>
      makeAsset({
        path: '/openapi.json',
        type: 'application/json; charset=utf-8',
        body: Buffer.from(openApiText()),
      }),
    ),
    documentEndpoint('/docs/client.md', ({ clientGuide }) =>
      makeAsset({ path: '/docs/client.md', type: markdownType, body: Buffer.from(clientGuide()) }),
    ),
    addressedEndpoint('/llms.txt', ({ documentIndex }, base) =>
      makeAsset({ path: '/llms.txt', type: textType, body: Buffer.from(documentIndex(base)) }),
    ),
    filesEndpoint('/docs', async () =>
      Object.values(await referenceFiles()).flatMap((file) => [
        [basename(file.path), file, revalidated] as const,
        [hashedName(file), file, keptForGood] as const,
      ]),
    ),
  ]
}
