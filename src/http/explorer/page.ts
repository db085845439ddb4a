// The explorer's page. What it shows, it gets from the endpoints that every client has.

import { isNullable } from '../../resources/field.ts'
import type { ResourceDescription } from '../../resources/description.ts'
import type { Resource } from '../../resources/resource.ts'
import type { ExplorerFile } from './files.ts'

/** The page; every address in it is relative, so that it works behind any prefix. */
export function explorerPage(
  files: readonly ExplorerFile[],
  resources: readonly Resource[],
): string {
  const pathOf = (file: ExplorerFile) => `explorer/${file.hashedName}`
  const named = (name: string) => {
    const file = files.find((one) => one.name === name)
    if (file === undefined) throw new Error(`the explorer has no ${name}`)
    return pathOf(file)
  }
  const modules = files.filter(({ type }) => type.startsWith('text/javascript'))
  // Without these, a browser learns of a module only when it has read the one that imports it.
  const preloads = modules.map((file) => `<link rel="modulepreload" href="${pathOf(file)}">`)
  // Not run as code: data, in which `<` could only end the element.
  const description = JSON.stringify(resources.map(describe)).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dossier</title>
<link rel="icon" type="image/svg+xml" href="${named('icon.svg')}">
<link rel="stylesheet" href="${named('style.css')}">
${preloads.join('\n')}
<script type="application/json" id="resources">${description}</script>
<script type="module" src="${named('main.js')}"></script>
</head>
<body>
<div id="page"></div>
<noscript>
<p>The explorer needs JavaScript. The <a href="docs/client.md">guide</a> and the
<a href="docs">reference</a> describe the API.</p>
</noscript>
</body>
</html>
`
}

function describe(resource: Resource): ResourceDescription {
  const { name, title, description, order, metaOf, changeFields, period, picture } = resource
  const fields = Object.entries(resource.fields)
  // The first text by which readers would look for a record.
  const [titleField] = fields.find(([, { sortable }]) => sortable) ?? fields[0] ?? []
  return {
    ...{ name, title, description, order, metaOf, changeFields, period, picture },
    fields: fields.map(([fieldName, field]) => ({
      name: fieldName,
      label: labelOf(fieldName),
      kind: field.kind,
      description: field.description,
      isNullable: isNullable(field),
      filter: field.filter,
      isSortable: field.sortable || field.filter === 'range',
      isTitle: fieldName === titleField,
    })),
  }
}

/** Words of names that are written otherwise for readers. */
const written: Readonly<Record<string, string>> = { attr: 'attribute', id: 'ID' }

function labelOf(name: string): string {
  const words = name.split('_').map((word) => written[word] ?? word)
  const label = words.join(' ')
  return label.charAt(0).toUpperCase() + label.slice(1)
}
