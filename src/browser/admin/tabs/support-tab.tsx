import '../styles/support.css'
import { useContext } from 'react'
import { SUPPORT_PATH } from '../../../features/admin/screen-tabs.ts'
import { Button } from '../parts/button.tsx'
import { Failed } from '../parts/feedback.tsx'
import { Icon } from '../parts/icon.tsx'
import { NewTabLink } from '../parts/links.tsx'
import { Panel } from '../parts/panel.tsx'
import { saveFile } from '../parts/save-file.ts'
import { useCopy } from '../parts/use-copy.ts'
import type { Query } from '../rest/queries.ts'
import { type Read, useQuery } from '../rest/use-rest.ts'
import { support, vars } from '../screen.ts'
import { ScreenTabs } from '../shell/entries.ts'
import { SUPPORT_TEXTS } from '../texts/support-texts.ts'
import { addTexts, type TextKey, useTexts } from '../texts/use-texts.ts'

addTexts(SUPPORT_TEXTS)

const QUESTIONS: readonly (readonly [TextKey, TextKey])[] = [
  ['s_q_lost', 's_a_lost'],
  ['s_q_change', 's_a_change'],
  ['s_q_one', 's_a_one'],
  ['s_q_leak', 's_a_leak'],
]

/** Renders answers to common questions, and the report for support requests. */
export function SupportTab() {
  const t = useTexts()
  return (
    <div className="stack">
      <Panel title={t('s_questions')} help={t('s_questions_help')}>
        <div className="questions">
          {QUESTIONS.map(([question, answer]) => (
            <details key={question}>
              <summary>
                <span>{t(question)}</span>
                <Icon name="chevron" />
              </summary>
              <p>{t(answer, { block: vars.logics.block?.label ?? 'block' })}</p>
            </details>
          ))}
        </div>
      </Panel>
      <SupportLinks />
      <SupportReport />
    </div>
  )
}

const LINKS = [
  ['docs', 's_docs'],
  ['forum', 's_forum'],
  ['contact', 's_contact'],
] as const

/** Renders the help links that the application has set, and the folder of the documentation. */
function SupportLinks() {
  const t = useTexts()
  const links = LINKS.flatMap(([key, text]) => (support[key] ? [{ url: support[key], text }] : []))
  return (
    <Panel title={t('s_links')}>
      <p className="line-text">{t('s_links_help', { folder: 'node_modules/sessmgr/docs' })}</p>
      {links.length > 0 && (
        <div className="actions">
          {links.map(({ url, text }) => (
            <NewTabLink key={text} className="button secondary" href={url}>
              {t(text)}
            </NewTabLink>
          ))}
        </div>
      )}
    </Panel>
  )
}

const FILE = 'sessmgr-report.txt'

/** Renders the report for support requests, which can be copied or saved. */
function SupportReport() {
  const t = useTexts()
  const copy = useCopy()
  const server = useQuery(SUPPORT_QUERY)
  const report = useReport(server)

  const save = () => saveFile(new Blob([`${report}\n`], { type: 'text/plain' }), FILE)

  return (
    <Panel title={t('s_report')} help={t('s_report_help')}>
      {server.error && <Failed error={server.error} retry={server.read} isRetrying={server.isReading} />}
      {/* Keyboard users must be able to reach a box that scrolls. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must take the focus. */}
      <pre className="report" tabIndex={0}>
        {report}
      </pre>
      <div className="actions">
        <Button onClick={() => void copy(report)}>{t('s_copy')}</Button>
        <Button tone="quiet" onClick={save}>
          {t('s_save')}
        </Button>
      </div>
    </Panel>
  )
}

/** What the server knows about itself. Null means unknown. */
interface ServerReport {
  readonly version: string
  readonly node: string
  readonly platform: string
  readonly store: string
  readonly shared: boolean
  readonly directory: boolean
  readonly audit: 'off' | 'process' | 'sink'
  readonly settings: Readonly<Record<string, unknown>> | null
  readonly addons: readonly { readonly id: number; readonly licensed: boolean }[] | null
  readonly people: number | null
  readonly sessions: number | null
}

const SUPPORT_QUERY: Query<ServerReport> = { key: ['support'], path: () => SUPPORT_PATH }

const UNKNOWN = 'unknown'

/** Returns the report for a support request. It is always in English, so that support can read it. */
function useReport({ data, error }: Read<ServerReport>): string {
  const tabs = useContext(ScreenTabs)
  return [
    `${vars.name} ${vars.version} (${vars.slug})`,
    ...(data ? serverLines(data) : [`Server: ${error ? `no report (${error.message || 'no answer'})` : '…'}`]),
    `REST: ${vars.restUrl}`,
    `Sections: ${tabs.map(({ key }) => key).join(', ')}`,
    `Logics: ${Object.keys(vars.logics).join(', ')}`,
    `Browser: ${navigator.userAgent}`,
    `Language: ${navigator.language}`,
  ].join('\n')
}

function serverLines(server: ServerReport): readonly string[] {
  const { settings, addons, people, sessions } = server
  const values = settings && Object.entries(settings).map(([key, value]) => `${key} ${value}`)
  const installed = addons?.map(({ id, licensed }) => `${id} (${licensed ? 'licensed' : 'not licensed'})`)
  return [
    // A process that was not restarted after an update still runs the previous version.
    ...(server.version === vars.version ? [] : [`Server: ${server.version}`]),
    `Node.js: ${server.node}`,
    `System: ${server.platform}`,
    `Store: ${server.store}${server.shared ? '' : ' (of one process)'}`,
    `Settings: ${values?.join(', ') ?? UNKNOWN}`,
    `Add-ons: ${installed ? installed.join(', ') || 'none' : UNKNOWN}`,
    `Options: directory ${server.directory ? 'on' : 'off'}, audit ${server.audit}`,
    `Signed in: ${people ?? UNKNOWN} people, ${sessions ?? UNKNOWN} sessions`,
  ]
}
