// Records as CSV (RFC 4180), made from their JSON texts (contract 11.2).

const lineEnd = '\r\n'

/** Makes CSV of records. @param names of their fields. */
export function createCsvWriter(names: readonly string[]) {
  return {
    /** The names of the fields, as the first line. */
    header: names.join(',') + lineEnd,
    /**
     * @param texts JSON texts of records, joined by commas.
     * @param before the beginning of each line.
     */
    rows(texts: string, before = ''): string {
      const records = JSON.parse(`[${texts}]`) as readonly Readonly<Record<string, unknown>>[]
      let lines = ''
      for (const record of records) {
        let separator = before
        for (const name of names) {
          lines += separator + csvCell(record[name])
          separator = ','
        }
        lines += lineEnd
      }
      return lines
    },
  }
}

/** A cell of CSV: null is empty, and what is neither text nor number is JSON. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `"${text.replaceAll('"', '""')}"`
}
