import { useTexts } from '../texts/use-texts.ts'
import { PlaceLink } from './place-link.tsx'

/** Renders the link from a user's page back to everybody. */
export function EverybodyLink() {
  const t = useTexts()
  return (
    <p>
      <PlaceLink query={{}}>
        <span className="arrow" aria-hidden="true">
          ←
        </span>{' '}
        {t('everybody')}
      </PlaceLink>
    </p>
  )
}
