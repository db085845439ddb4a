// The companies that were opened in this tab, the last one first.

import type { FoundCompany } from '../answers.ts'

const storageName = 'dossier.recent'
const recentMax = 8

export function recentCompanies(): readonly FoundCompany[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(storageName) ?? '[]')
    return Array.isArray(list) ? (list as FoundCompany[]) : []
  } catch {
    return []
  }
}

export function noteRecent({ id, name, jurisdiction, identifier }: FoundCompany): void {
  const others = recentCompanies().filter((one) => one.id !== id)
  const list = [{ id, name, jurisdiction, identifier }, ...others].slice(0, recentMax)
  try {
    sessionStorage.setItem(storageName, JSON.stringify(list))
  } catch {
    // Without storage nothing is remembered.
  }
}
