/** A user who was looked up. */
export interface LookUp {
  readonly login: string
  readonly name: string
}

const KEY = 'sessmgr.looked-up'
const MOST = 5

/** Returns the users who were looked up last in this browser tab, the latest first. */
export function lookUps(): readonly LookUp[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept : []
  } catch {
    // The browser may refuse storage.
    return []
  }
}

/** Remembers a user who was looked up. */
export function rememberLookUp(user: LookUp): void {
  const others = lookUps().filter(({ login }) => login !== user.login)
  try {
    sessionStorage.setItem(KEY, JSON.stringify([user, ...others].slice(0, MOST)))
  } catch {}
}
