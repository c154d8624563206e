import { type SyntheticEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Select } from '../parts/forms/select.tsx'
import { Icon } from '../parts/icon.tsx'
import { place } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { EVENT_TYPES } from './event-words.ts'
import type { ActivityView } from './use-activity.ts'

/** Renders the choice of what is shown, and about whom. */
export function ActivityFilters({ view }: { view: ActivityView }) {
  const t = useTexts()
  const [user, setUser] = useState(view.user)

  function show(change: Partial<ActivityView>): void {
    const entries = Object.entries({ ...view, ...change }).filter(([, value]) => value !== '')
    place.setQuery(Object.fromEntries(entries))
  }

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    show({ user: user.trim() })
  }

  return (
    <form className="search-line activity-filters" onSubmit={submit}>
      <div className="search-box">
        <Icon name="search" />
        <input
          type="search"
          aria-label={t('v_user')}
          placeholder={t('v_user')}
          value={user}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={({ target }) => setUser(target.value)}
        />
      </div>
      <Button type="submit">{t('v_find')}</Button>
      <Select label="v_type" value={view.type} options={EVENT_TYPES} onChange={(type) => show({ type })} />
    </form>
  )
}
