import { SafeLink } from '../../parts/safe-link.tsx'
import { support } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { PlaceLink } from '../place-link.tsx'
import { lookUps } from '../search/look-ups.ts'

/** Renders what there is to see if the server keeps no list of people: the users who were looked up last. */
export function NoDirectory() {
  const t = useTexts()
  const last = lookUps()
  return (
    <div className="empty">
      {last.length > 0 && (
        <>
          <p className="empty-title">{t('looked_up')}</p>
          <ul className="looked-up">
            {last.map(({ login, name }) => (
              <li key={login}>
                <PlaceLink query={{ user: login }}>
                  <bdi>{name}</bdi>
                </PlaceLink>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>{t('no_directory')}</p>
      {support.docs ? (
        <SafeLink href={support.docs}>{t('s_docs')}</SafeLink>
      ) : (
        <PlaceLink tab="support" query={{}}>
          {t('s_docs')}
        </PlaceLink>
      )}
    </div>
  )
}
