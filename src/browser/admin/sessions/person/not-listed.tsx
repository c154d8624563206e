import { Empty } from '../../parts/feedback/empty.tsx'
import { Failed } from '../../parts/feedback/failed.tsx'
import { RestFailure } from '../../rest/rest-failure.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { EverybodyLink } from '../everybody-link.tsx'
import { PlaceLink } from '../place-link.tsx'
import { noneFound } from '../search/none-found.ts'
import { SearchBox } from '../search/search-box.tsx'
import { type SearchResult, usePeopleSearch } from '../search/use-people-search.ts'
import { nameOf } from '../use-sessions.ts'

/** Explains why there is no list: the user does not exist, or the server failed. */
export function NotListed({
  user,
  error,
  retry,
  isRetrying,
}: {
  user: string
  error: unknown
  retry: () => unknown
  isRetrying: boolean
}) {
  const isUnknown = error instanceof RestFailure && error.code === 'user_not_found'
  return (
    <div className="stack">
      <EverybodyLink />
      <SearchBox text={user} />
      {isUnknown ? (
        <Unknown text={user} />
      ) : (
        <Failed error={error} fallback="sessions_failed" retry={retry} isRetrying={isRetrying} />
      )}
    </div>
  )
}

/** Explains that nobody is found, with links to users with a similar name. */
function Unknown({ text }: { text: string }) {
  const t = useTexts()
  const { data } = usePeopleSearch(text)
  return (
    <Empty icon="search" title={<span role="alert">{noneFound(t, text, data)}</span>}>
      <Closest data={data} />
    </Empty>
  )
}

function Closest({ data }: { data: SearchResult | undefined }) {
  const t = useTexts()
  const there = data?.address?.people ?? []
  const people = there.length > 0 ? there : (data?.people ?? [])
  if (people.length === 0) return data?.address ? null : t('try_email')
  return (
    <>
      {there.length === 0 && `${t('closest')} `}
      {people.map(({ user }, index) => (
        <span key={String(user.id)}>
          {index > 0 && ', '}
          <PlaceLink query={{ user: user.login }}>{nameOf(user)}</PlaceLink>
        </span>
      ))}
    </>
  )
}
