/** What a tab needs before it can show anything. */
export interface FirstNeeds {
  /** Modules of the screen that are loaded on demand, by their paths in the sources of the screen. */
  readonly modules: readonly string[]
  /** REST routes that the tab reads. */
  readonly calls: readonly string[]
}

const OPTIONS = 'wp/v2/settings'

const NEEDS: Readonly<Record<string, (query: URLSearchParams, hasDirectory: boolean) => FirstNeeds>> = {
  sessions(query, hasDirectory) {
    const user = query.get('user')
    if (user) {
      const calls = [`sessmgr/v1/sessions?${new URLSearchParams({ user })}`]
      return { modules: ['sessions/person/person-page.tsx'], calls }
    }
    const isFiltered = query.has('show') || query.has('sort')
    const list = isFiltered ? [] : ['sessmgr/v1/people?show=all&sort=recent&limit=50']
    const calls = hasDirectory ? ['sessmgr/v1/people/summary', ...list] : []
    return { modules: ['sessions/people/people-page.tsx'], calls }
  },
  activity: () => ({ modules: ['activity/activity-page.tsx'], calls: [] }),
  settings: () => ({ modules: ['settings/settings-tab.tsx', 'passwords/passwords-panel.tsx'], calls: [OPTIONS] }),
  comments: () => ({ modules: ['comments/comments-tab.tsx'], calls: [OPTIONS] }),
  addons: () => ({ modules: ['addons/addons-tab.tsx'], calls: ['sessmgr/v1/addons'] }),
  support: () => ({ modules: ['support/support-tab.tsx'], calls: ['sessmgr/v1/support'] }),
}

/**
 * Returns what a tab needs first. The page starts to load it together with the script, which would otherwise ask for one
 * after the other.
 */
export function firstNeeds(tab: string, query: URLSearchParams, hasDirectory: boolean): FirstNeeds {
  const needs = Object.hasOwn(NEEDS, tab) ? NEEDS[tab] : undefined
  return needs?.(query, hasDirectory) ?? { modules: [], calls: [] }
}
