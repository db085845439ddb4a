// Removes secrets before anything is shown: API keys from logs and answers, passwords from settings
// and command lines.

/** Letters and digits that stand together; a key's own part is 49 of them. */
const keyRunMin = 32
const prefixedKey = /dossier_[0-9A-Za-z]{16,}/g
// Escapes of JSON are matched so that none is torn: what follows a backslash is no part of a key.
const escapeOrRun = /\\(?:u[0-9A-Fa-f]{4}|[^])|[0-9A-Za-z]+/g
/** A percent-encoded letter, digit or underscore, encoded once or many times over. */
const encodedCharacter = /%(?:25)*(3[0-9]|[46][1-9A-Fa-f]|5[0-9AaFf]|7[0-9Aa])/g

/** Characters of a key, percent-encoded or not, by their codes. */
const isOfRun = new Uint8Array(128)
for (const character of '%0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') {
  isOfRun[character.charCodeAt(0)] = 1
}

/**
 * A text, which may be a line of JSON, without anything that looks like an API key, whole or most
 * of one: `dossier_` with 16 or more letters and digits, and any run of 32 or more that has small
 * and capital letters; percent-encoded, too. Identifiers such as UUIDs, hexadecimal digests and
 * LEIs stay. A text without keys costs a fraction of a microsecond.
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

/** Looks at one character in 32 first, since a run that is long enough covers one of those. */
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
/** What stands before a password in `password=…`. */
const passwordName = /\b(?:(?:ssl)?password|passwd|pwd)\s*=\s*/gi
/** The password itself; one whose quote is not closed goes on to the end. */
const passwordValue = /'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^&\s]*/y

/**
 * A value as it may be shown: the password in a URL, or in what may have been meant for one
 * (`redis:/:password@host`, `user:password@host`), and in `password=…` becomes three stars.
 */
export function withoutPasswords(value: string): string {
  if (isPath(value)) return value
  return hidePairs(/^https?:/i.test(value) ? hideInList(value) : hideInUrl(value))
}

/** Whether a value may hold a password, but no URL's parser takes it for one. */
export function hasStrayPassword(value: string): boolean {
  const url = URL.parse(value)
  const isSound = url !== null && url.host !== '' && (url.password !== '' || url.username !== '')
  return !isSound && !isPath(value) && hideInUrl(value) !== value
}

/** `withoutPasswords` for a message that repeats values among other words. */
export function withoutPasswordsInText(text: string): string {
  return hidePairs(
    text
      .split(/(\s+)/)
      .map((word) => (word.includes('@') ? hideBeforeAt(word) : word))
      .join(''),
  )
}

function hideInList(value: string): string {
  return value.split(',').map(hideInUrl).join(',')
}

function hideInUrl(value: string): string {
  const url = URL.parse(value)
  if (url !== null && url.host !== '') {
    if (url.password !== '') {
      url.password = hidden
      return url.href
    }
    // A password with a # or / that was not percent-encoded ends the host early.
    if (url.username !== '' || !value.includes('@')) return value
  }
  if (value.includes('@')) return hideBeforeAt(value)
  // A URL that cannot be read may be one whose password has cut it short.
  return value.replace(/^(\s*[a-z][a-z0-9+.-]*:\/\/)[^]*$/i, `$1${hidden}`)
}

function hidePairs(text: string): string {
  let shown = ''
  let end = 0
  for (const { 0: name, index } of text.matchAll(passwordName)) {
    // What looks like another pair within a password is a part of it.
    if (index < end) continue
    passwordValue.lastIndex = index + name.length
    const [password = ''] = passwordValue.exec(text) ?? []
    shown += text.slice(end, index) + name + (password.startsWith(hidden) ? password : hidden)
    end = index + name.length + password.length
  }
  return shown + text.slice(end)
}

/** Hides what stands between the colon after a user's name and the last @. */
function hideBeforeAt(text: string): string {
  const at = text.lastIndexOf('@')
  const schemeEnd = text.indexOf(':')
  if (schemeEnd < 0 || schemeEnd > at) return text
  let authority = schemeEnd + 1
  while (text[authority] === '/') authority += 1
  const colon = text.indexOf(':', authority)
  if (colon >= 0 && colon < at) return `${text.slice(0, colon)}:${hidden}${text.slice(at)}`
  // Without slashes it is no scheme that stands before the colon, but a user.
  const isUser = authority === schemeEnd + 1
  return isUser ? `${text.slice(0, schemeEnd)}:${hidden}${text.slice(at)}` : text
}

/** Whether a value can only be the path of a file, whatever else is in it. */
function isPath(value: string): boolean {
  return /^\.{0,2}\/(?!\/)/.test(value)
}
