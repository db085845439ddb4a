// What this tab remembers until it is closed, in its session storage. Browsers share that between
// all services of one host, also below different paths: each has names of its own.

/** What the names of this service begin with. */
export const ownName = `dossier ${new URL('.', location.href).pathname} `

export function readStored(name: string): string | undefined {
  try {
    return sessionStorage.getItem(ownName + name) ?? undefined
  } catch {
    // Browsers may block storage; nothing is remembered then.
    return undefined
  }
}

/** Remembers a text; undefined for none. */
export function store(name: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(ownName + name)
    else sessionStorage.setItem(ownName + name, text)
  } catch {
    // As above.
  }
}

export function forgetStored(): void {
  try {
    const names = Object.keys(sessionStorage).filter((name) => name.startsWith(ownName))
    for (const name of names) sessionStorage.removeItem(name)
  } catch {
    // As above.
  }
}
