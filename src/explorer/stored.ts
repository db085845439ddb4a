// What this tab remembers until it is closed, in its session storage. Browsers share that between
// all services of one host, also below different paths: each has names of its own.

/** What the names of this service begin with. */
export const ownName = `dossier ${new URL('.', location.href).pathname} `

export function readStored(name: string): string | undefined {
  return ifPermitted(() => sessionStorage.getItem(ownName + name)) ?? undefined
}

/** Remembers a text; undefined for none. */
export function store(name: string, text: string | undefined): void {
  ifPermitted(() => {
    if (text === undefined) sessionStorage.removeItem(ownName + name)
    else sessionStorage.setItem(ownName + name, text)
  })
}

export function forgetStored(): void {
  ifPermitted(() => {
    const names = Object.keys(sessionStorage).filter((name) => name.startsWith(ownName))
    for (const name of names) sessionStorage.removeItem(name)
  })
}

/** Does what browsers may block, storage and what is like it: undefined, and nothing done, then. */
export function ifPermitted<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
