// The companies that were opened in this tab, the last one first. Only their numbers are stored;
// the registry is asked for their names each time, so that no withheld name is left.

import type { CompaniesAnswer, FoundCompany } from '../answers.ts'
import { readStored, store } from '../stored.ts'
import { useAnswer } from '../use-answer.ts'

type Opened = Pick<FoundCompany, 'id' | 'identifier'>

const storedName = 'recent'
const recentMax = 8

function openedCompanies(): readonly Opened[] {
  try {
    const list: unknown = JSON.parse(readStored(storedName) ?? '[]')
    return Array.isArray(list) ? (list as Opened[]) : []
  } catch {
    return []
  }
}

/** The companies that were opened and can be found by their numbers, once these are known. */
export function useRecentCompanies(): readonly FoundCompany[] {
  const opened = openedCompanies()
  const numbers = opened.map(({ identifier }) => ['identifier', identifier ?? ''])
  const query = new URLSearchParams(numbers).toString()
  const { value } = useAnswer<CompaniesAnswer>(query === '' ? undefined : `companies?${query}`)
  const found = new Map(value?.body.companies.map((one) => [one.id, one]))
  return opened.flatMap(({ id }) => found.get(id) ?? [])
}

export function noteRecent({ id, identifier }: FoundCompany): void {
  if (identifier === null) return
  const others = openedCompanies().filter((one) => one.id !== id)
  store(storedName, JSON.stringify([{ id, identifier }, ...others].slice(0, recentMax)))
}
