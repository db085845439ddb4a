// Removes secrets before anything is shown: API keys from logs and answers, passwords from settings
// and command lines.

/** The shortest run of letters and digits that may be a key, which has 49 after its prefix. */
const keyRunMin = 32
const prefixedKey = /dossier_[0-9A-Za-z]{16,}/g
// Matches whole JSON escapes, so that none is split: the letter after a backslash is not redacted.
const escapeOrRun = /\\(?:u[0-9A-Fa-f]{4}|[^])|[0-9A-Za-z]+/g
/** A percent-encoded letter, digit or underscore, encoded once or repeatedly. */
const encodedCharacter = /%(?:25)*(3[0-9]|[46][1-9A-Fa-f]|5[0-9AaFf]|7[0-9Aa])/g

/** Marks the character codes that a key may contain, percent-encoded or not. */
const isOfRun = new Uint8Array(128)
for (const character of '%0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') {
  isOfRun[character.charCodeAt(0)] = 1
}

/**
 * Replaces anything in a text, such as a line of JSON, that looks like an API key or most of one:
 * `dossier_` with 16 or more letters and digits, and any run of 32 or more with both lower and
 * upper case; percent-encoded, too. Identifiers such as UUIDs, hexadecimal digests and LEIs are
 * kept. A text without keys takes a fraction of a microsecond.
 */
export function withoutKeys(text: string): string {
  const isLikely = hasLongRun(text) || text.includes('dossier_')
  if (!isLikely) return text
  const decoded = text.replace(encodedCharacter, (_all, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  )
  const redacted = decoded
    .replace(prefixedKey, 'dossier_[key]')
    .replace(escapeOrRun, (part) => (isKeyLike(part) ? '[key]' : part))
  return redacted === decoded ? text : redacted
}

function isKeyLike(part: string): boolean {
  return part.length >= keyRunMin && /[a-z]/.test(part) && /[A-Z]/.test(part) && part[0] !== '\\'
}

/** Tests only one character in 32 at first, since any run that is long enough covers one. */
function hasLongRun(text: string): boolean {
  const isRun = (at: number) => isOfRun[text.charCodeAt(at)] === 1
  for (let at = keyRunMin - 1; at < text.length; at += keyRunMin) {
    if (!isRun(at)) continue
    let start = at
    while (start > at - keyRunMin + 1 && isRun(start - 1)) start -= 1
    let end = at + 1
    while (end < start + keyRunMin && isRun(end)) end += 1
    if (end - start >= keyRunMin) return true
  }
  return false
}

const hidden = '***'
/** A password in `password=…`; one without a closing quote extends to the end. */
const passwordPair =
  /\b((?:ssl)?password|passwd|pwd)(\s*=\s*)(?:'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^&\s]*)/gi
/** What is before a password in a URL or in what may be a mistyped one, and the password. */
const urlPassword = /^([^:]*:\/[^:]*:|[^:]*:(?!\/))[^]*@/

/**
 * Replaces passwords in a value by three stars: in a URL, in what may be a mistyped URL
 * (`redis:/:password@host`, `user:password@host`), and in `password=…`.
 */
export function withoutPasswords(value: string): string {
  return isPath(value) ? value : hideInUrl(hidePairs(value))
}

/** Whether a value seems to contain a password, but is not a valid URL with one. */
export function hasStrayPassword(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || url.host === '') return looksSecret(value)
  // Of `u:p@ss/word@host`, the parser takes `ss` for the host: the rest would be shown.
  const rest = url.pathname + url.hash + (url.search.split('=', 1)[0] ?? '')
  const isCut = url.password !== '' && rest.includes('@')
  return (isCut || (url.password === '' && url.username === '')) && looksSecret(value)
}

function looksSecret(value: string): boolean {
  return !isPath(value) && hideInUrl(value) !== value
}

/** `withoutPasswords` for a message that contains values among other words. */
export function withoutPasswordsInText(text: string): string {
  return hidePairs(text).replace(/\S+/g, hideBeforeAt)
}

function hideInUrl(value: string): string {
  if (value.includes('@') || URL.parse(value)?.host) return hideBeforeAt(value)
  // A URL that does not parse may have a password that cuts it short; a list of origins has none.
  return value.replace(/^(\s*(?!https?:)[a-z][a-z0-9+.-]*:\/\/)[^]*$/i, `$1${hidden}`)
}

function hideBeforeAt(text: string): string {
  return text.replace(urlPassword, `$1${hidden}@`)
}

function hidePairs(text: string): string {
  return text.replace(passwordPair, `$1$2${hidden}`)
}

/** Whether a value is certainly a file's path, whatever else it contains. */
function isPath(value: string): boolean {
  return /^\.{0,2}\/(?!\/)/.test(value)
}
