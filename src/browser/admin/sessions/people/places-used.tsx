import { countKey, useTexts } from '../../texts/use-texts.ts'
import type { SignedInPerson } from './use-people.ts'

/** Renders how many sessions a person has, of how many. */
export function PlacesUsed({ person: { live, maximum } }: { person: SignedInPerson }) {
  const t = useTexts()
  const counted = t(countKey('live', live), { count: live })
  if (typeof maximum !== 'number') return <span>{maximum === null ? `${counted}, ${t('no_limit')}` : counted}</span>
  return (
    <>
      <span>{t('places', { count: live, maximum })}</span>
      <meter
        className={live >= maximum ? 'full' : undefined}
        aria-label={t('places_used', { count: live, maximum })}
        max={maximum}
        value={Math.min(live, maximum)}
      />
      {live > maximum && <small>{t('over_limit')}</small>}
    </>
  )
}
