import { Icon } from '../parts/icon.tsx'
import { Panel } from '../parts/panel.tsx'
import { support } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

const LINKS = [
  ['docs', 's_docs'],
  ['forum', 's_forum'],
  ['contact', 's_contact'],
] as const

/** Renders the links to help, if the application has set any. */
export function SupportLinks() {
  const t = useTexts()
  const links = LINKS.flatMap(([key, text]) => (support[key] ? [{ url: support[key], text }] : []))
  if (links.length === 0) return null
  return (
    <Panel title={t('s_links')}>
      <div className="actions">
        {links.map(({ url, text }) => (
          <a key={text} className="button secondary" href={url} target="_blank" rel="noopener">
            <span>
              {t(text)}
              <span className="unseen"> {t('new_tab')}</span>
            </span>
            <Icon name="external" />
          </a>
        ))}
      </div>
    </Panel>
  )
}
