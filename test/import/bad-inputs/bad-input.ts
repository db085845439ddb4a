// A mistake that an operator makes, and what Dossier says to it.

export interface BadInput {
  /** Files that it needs, by name. */
  readonly files?: Readonly<Record<string, string | Buffer>>
  /** The command line after `dossier`, in words separated by blanks. */
  readonly run: string
  /** 1 for a failure (the default), 2 for wrong usage. */
  readonly code?: 1 | 2
  /** Matches one line of standard error. */
  readonly says: RegExp
}

/** Mistakes by what they are. */
export type BadInputs = Readonly<Record<string, BadInput>>
