import { Icon } from '../parts/icon.tsx'
import { Panel } from '../parts/panel.tsx'
import { support } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

const LINKS = [
  ['docs', 's_docs'],
  ['forum', 's_forum'],
  ['contact', 's_contact'],
] as const

/** Renders the links to help that the application has set, and where the documentation is. */
export function SupportLinks() {
  const t = useTexts()
  const links = LINKS.flatMap(([key, text]) => (support[key] ? [{ url: support[key], text }] : []))
  return (
    <Panel title={t('s_links')}>
      <p className="line-text">{t('s_links_help', { folder: 'node_modules/sessmgr/docs' })}</p>
      {links.length > 0 && (
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
      )}
    </Panel>
  )
}
