// A reader of CSV by RFC 4180, independent of the project's own.

/** The rows of a text, each with its cells; every line ends with CRLF. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (text.charAt(at + 1) === '"') cell += text.charAt((at += 1))
      else isQuoted = false
    } else if (letter === '"') isQuoted = true
    else if (letter === ',') {
      cells.push(cell)
      cell = ''
    } else if (letter === '\r' && text.charAt(at + 1) === '\n') {
      at += 1
      rows.push([...cells, cell])
      cells = []
      cell = ''
    } else cell += letter
  }
  if (isQuoted || cell !== '' || cells.length > 0) throw new Error('the last line has no end')
  return rows
}
