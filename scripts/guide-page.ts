// The client's guide as a page: its Markdown as HTML, with a list of its sections.

import { Marked } from 'marked'

/** The page; its style is beside it, and its links are relative, so that any prefix will do. */
export function guidePage(markdown: string): string {
  const sections: string[] = []
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchorOf(text)
        const title = this.parser.parseInline(tokens)
        if (depth === 2) sections.push(`<li><a href="#${id}">${title}</a></li>`)
        return `<h${depth} id="${id}">${title}</h${depth}>\n`
      },
    },
  })
  // On a narrow screen a table may scroll, by the keyboard, too.
  const body = marked
    .parse(markdown, { async: false })
    .replaceAll('<table>', '<table tabindex="0">')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dossier: client's guide</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="guide.css">
</head>
<body>
<nav aria-label="Sections">
<p><a href="../docs">API reference</a> · <a href="client.md">as Markdown</a></p>
<ul>
${sections.join('\n')}
</ul>
</nav>
<main>
${body}</main>
</body>
</html>
`
}

/** The anchor of a heading, as sites that show Markdown make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
