import { isValidElement, type ReactNode, type SyntheticEvent, useState, useSyncExternalStore } from 'react'
import { useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Failed, Notice, PartBoundary, Skeleton } from '../parts/feedback.tsx'
import { EXACT, TextField } from '../parts/fields.tsx'
import { PlaceLink } from '../parts/links.tsx'
import { Panel } from '../parts/panel.tsx'
import { useFailureText } from '../rest/use-rest.ts'
import { hookChanges, hooks, place } from '../screen.ts'
import { SignOutEverybody, useSignOut } from '../sessions/sign-out.tsx'
import { isComponent, type PanelEntry } from '../shell/entries.ts'
import { latePart } from '../shell/late-part.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { GeneralPanel } from './general-panel.tsx'
import { useAddons } from './use-addons.ts'

const PasswordsPanel = latePart(async () => (await import('./passwords-panel.tsx')).PasswordsPanel)

/** The parts of the tab, by the `part` in the URL's query. */
const PARTS = [
  ['', 'part_limit'],
  ['passwords', 'p_title'],
  ['danger', 'part_danger'],
] as const

/** Renders one part of the settings: the limit with the add-on panels, application passwords, or forced logout. */
export function SettingsTab() {
  const t = useTexts()
  const { data, error, refetch, isFetching } = useOptions()
  const panels = usePanels()
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const open = PARTS.find(([part]) => part === query.get('part'))?.[0] ?? ''
  if (!data) return error ? <Failed error={error} retry={refetch} isRetrying={isFetching} /> : <Skeleton />
  return (
    <div className="settings">
      <nav className="tabs parts" aria-label={t('tab_settings')}>
        {PARTS.map(([part, text]) => (
          <PlaceLink
            key={part}
            tab="settings"
            query={part ? { part } : {}}
            aria-current={part === open ? 'true' : undefined}
          >
            {t(text)}
          </PlaceLink>
        ))}
      </nav>
      <div className="stack">
        {open === '' && (
          <>
            <ReportOnly />
            <GeneralPanel />
            {panels.map(({ id, Component }) => (
              <PartBoundary key={id} name={id}>
                <Component />
              </PartBoundary>
            ))}
          </>
        )}
        {open === 'passwords' && (
          <PartBoundary name={t('p_title')}>
            <PasswordsPanel />
          </PartBoundary>
        )}
        {open === 'danger' && <ForceLogoutPanel />}
      </div>
    </div>
  )
}

/** Renders a banner while the saved settings do not enforce the limit. */
function ReportOnly() {
  const t = useTexts()
  const settings = useOptions().data?.sessmgr_settings as { enforce?: boolean } | undefined
  if (settings?.enforce !== false) return null
  return (
    <Notice tone="warning" title={t('report_only')}>
      {t('report_only_help')}
    </Notice>
  )
}

/** Returns the add-on panels in order. Of panels with the same id, only the last is included. */
function usePanels(): readonly PanelEntry[] {
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const entries: unknown = hooks.applyFilters('sessmgr.settings.panels', [])
  const good = (Array.isArray(entries) ? entries : []).filter(isPanel)
  return [...new Map(good.map((entry) => [entry.id, entry])).values()]
}

function isPanel(entry: unknown): entry is PanelEntry {
  const { id, Component } = (entry ?? {}) as Partial<PanelEntry>
  return typeof id === 'string' && id !== '' && isComponent(Component)
}

/** Renders the panel that signs out one user or all users. */
function ForceLogoutPanel() {
  const t = useTexts()
  const textOf = useFailureText()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const { find, dialog, isPending } = useSignOut(
    () => setName(''),
    (error) => setProblem(textOf(error, 'force_failed')),
  )

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (name.trim() === '' || isPending || dialog) return
    setProblem(undefined)
    find({ login: name })
  }

  return (
    <Panel title={t('force')} help={t('force_help')}>
      <form className="line" onSubmit={submit}>
        <TextField
          label={t('user')}
          help={t('user_help')}
          value={name}
          problem={problem}
          readOnly={isPending}
          {...EXACT}
          onChange={(text) => {
            setName(text)
            setProblem(undefined)
          }}
        />
        <Button type="submit" tone="danger" disabled={name.trim() === ''} busy={isPending && t('force_busy')}>
          {t('force')}
        </Button>
      </form>
      {dialog}
      <div className="line divided">
        <p className="line-text">{t('all_help')}</p>
        <SignOutEverybody inSettings />
      </div>
      <CrossSell />
    </Panel>
  )
}

const FILTER = 'sessmgr.settings.force_logout.cross_sell'
const ROW = 'sessmgr-cross-sell'

/** Renders what an add-on shows at the end of the panel, or else a banner if an add-on could be licensed. */
function CrossSell() {
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const given: unknown = hooks.applyFilters(FILTER, undefined)
  if (given === null) return null
  if (!isNode(given)) return <DefaultBanner />
  const part = <PartBoundary name={FILTER}>{given}</PartBoundary>
  return hasRow(given) ? part : <div className={ROW}>{part}</div>
}

function DefaultBanner() {
  const t = useTexts()
  const { data } = useAddons()
  const items = Array.isArray(data?.items) ? data.items : []
  if (!items.some((addon) => addon.is_premium && !addon.is_license_active)) return null
  return (
    <div className={ROW}>
      <Notice
        title={t('cross_title')}
        actions={
          <Button tone="quiet" onClick={() => place.go('addons')}>
            {t('cross_link')}
          </Button>
        }
      >
        {t('cross_text')}
      </Notice>
    </div>
  )
}

function isNode(value: unknown): value is ReactNode {
  if (Array.isArray(value)) return value.length > 0 && value.every(isNode)
  return isValidElement(value) || (typeof value === 'string' && value !== '')
}

/** Checks whether an add-on's content already has the row's class, so that it needs no wrapper. */
function hasRow(node: ReactNode): boolean {
  const className = isValidElement<{ className?: unknown }>(node) ? node.props.className : undefined
  return typeof className === 'string' && className.split(' ').includes(ROW)
}
