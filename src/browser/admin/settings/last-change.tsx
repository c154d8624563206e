import { useQuery } from '@tanstack/react-query'
import type { EventUser } from '../activity/use-activity.ts'
import { useOptions } from '../options/use-options.ts'
import { rest } from '../screen.ts'
import { dateAndTime, timeAgo } from '../sessions/time-words.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { useTexts } from '../texts/use-texts.ts'

const OPTION = 'sessmgr_settings'
/** How many changes of settings are searched for one of this option. */
const SEARCHED = '20'

interface Changes {
  readonly events: readonly {
    readonly at: number
    readonly actor?: EventUser
    readonly details?: { readonly option?: unknown }
  }[]
}

/** Renders who changed the settings of the limit last, if the activity log knows. Keeps its height while it loads. */
export function LastChange() {
  const t = useTexts()
  const { data: options } = useOptions()
  const { data } = useQuery({
    // Every save changes the options.
    queryKey: ['last-change', JSON.stringify(options?.[OPTION])],
    queryFn: () =>
      rest.request<Changes>(
        'GET',
        `sessmgr/v1/audit?${new URLSearchParams({ type: 'settings.changed', limit: SEARCHED })}`,
      ),
    retry: false,
  })
  const events = Array.isArray(data?.events) ? data.events : []
  const change = events.find(({ details }) => details?.option === OPTION)
  const { at = 0, actor } = change ?? {}
  const name = actor && nameOf(actor)
  return (
    <span className="last-change" title={change && dateAndTime(at)}>
      {change && t(name ? 'changed_by' : 'changed_ago', { name: name ?? '', ago: timeAgo(at) })}
    </span>
  )
}
