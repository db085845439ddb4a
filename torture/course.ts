// The versions of a registry that commands make: what each listing is at each of them,
// and the command that makes the next one.

import { join } from 'node:path'
import { type ListingState, readTargets, type ReadTarget, writeGeneration } from './generations.ts'

/** The kinds of commands that change a registry. */
export type ChangeKind = 'import' | 'revert' | 'prune'

/** A command that changes the registry. */
export interface Change {
  readonly kind: ChangeKind
  /** The version that it makes; a prune leaves that which is. */
  readonly version: number
  /** The earliest version that can be asked for afterwards. */
  readonly earliest: number
  readonly args: (db: string) => string[]
}

type States = Readonly<Record<ReadTarget, ListingState>>

/** The course of a registry so far. */
export interface Course {
  /** The last version. */
  version(): number
  /** The earliest version that can be asked for. */
  earliest(): number
  readonly stateAt: (target: ReadTarget, version: number) => ListingState
  /** Whether such a command would change something. */
  can(kind: ChangeKind): boolean
  /** Prepares a command; what its version would be can be asked from now on. */
  readonly plan: (kind: ChangeKind) => Change
  /** Notes that a command has been committed. */
  readonly done: (change: Change) => void
}

const before: States = {
  rights: { generation: 0, since: 0 },
  events: { generation: 0, since: 0 },
}

/** Plans a registry's next imports, in advance. */
export function planImports({ plan, done }: Course, count: number): Change[] {
  return Array.from({ length: count }, () => {
    const change = plan('import')
    done(change)
    return change
  })
}

/** @param folder for the files of its imports. */
export function createCourse(folder: string, companies: readonly number[]): Course {
  const states = new Map<number, States>([[0, before]])
  const targets = new Map<number, ReadTarget>()
  const statesAt = (version: number) => states.get(version) ?? before
  let [last, earliest] = [0, 1]
  let lastKind: ChangeKind | undefined

  function planImport(version: number): Change {
    const target = targets.get(last) === 'rights' ? 'events' : 'rights'
    const file = join(folder, `generation-${version}.ndjson`)
    writeGeneration(file, version, companies, target)
    targets.set(version, target)
    states.set(version, { ...statesAt(last), [target]: { generation: version, since: version } })
    return {
      ...{ kind: 'import', version, earliest },
      args: (db) => ['import', target, file, '--snapshot', '--accept', '--db', db],
    }
  }

  function planRevert(version: number): Change {
    const target = targets.get(last) ?? readTargets[0]
    const { generation } = statesAt(last - 1)[target]
    states.set(version, { ...statesAt(last), [target]: { generation, since: version } })
    return {
      ...{ kind: 'revert', version, earliest },
      args: (db) => ['revert', '--to', String(version - 2), '--db', db],
    }
  }

  return {
    version: () => last,
    earliest: () => earliest,
    stateAt: (target, version) => statesAt(version)[target],
    can: (kind) => kind === 'import' || (lastKind === 'import' && earliest < last),
    plan(kind) {
      if (kind === 'import') return planImport(last + 1)
      if (kind === 'revert') return planRevert(last + 1)
      return {
        ...{ kind, version: last, earliest: last },
        args: (db) => ['prune', '--yes', '--keep', '0d', '--db', db],
      }
    },
    done(change) {
      last = change.version
      earliest = change.earliest
      lastKind = change.kind
    },
  }
}
