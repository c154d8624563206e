import '../styles/settings.css'
import { isValidElement, type ReactNode, type SyntheticEvent, useEffect, useState, useSyncExternalStore } from 'react'
import { useOptions } from '../options/use-options.ts'
import { Button } from '../parts/button.tsx'
import { Notice, PartBoundary, Pending } from '../parts/feedback.tsx'
import { EXACT, TextField } from '../parts/fields.tsx'
import { PlaceLink } from '../parts/links.tsx'
import { Panel } from '../parts/panel.tsx'
import { useQuery } from '../rest/use-rest.ts'
import { hookChanges, hooks, place } from '../screen.ts'
import { SignOutEverybody, useSignOut } from '../sessions/sign-out.tsx'
import { isComponent, type PanelEntry } from '../shell/entries.ts'
import { AddonNode, isForeign, watchAddon } from '../shell/foreign-react.ts'
import { SETTINGS_TEXTS } from '../texts/settings-texts.ts'
import { addTexts, useTexts } from '../texts/use-texts.ts'
import { ADDONS_QUERY } from './addons-query.ts'
import { GeneralPanel } from './general-panel.tsx'
import { PasswordsPanel } from './passwords-panel.tsx'

addTexts(SETTINGS_TEXTS)

/** The parts of the tab, by the `part` in the URL's query. */
const PARTS = [
  ['', 'general'],
  ['addons', 'tab_addons'],
  ['force', 'force'],
  ['passwords', 'p_title'],
] as const

/** Renders all settings: the limit, the panels of add-ons, forced logout, and application passwords. */
export function SettingsTab() {
  const t = useTexts()
  const options = useOptions()
  const panels = usePanels()
  const open = useOpenPart(options.data !== undefined)
  if (!options.data) return <Pending of={options} />
  return (
    <div className="settings">
      <nav className="tabs parts" aria-label={t('tab_settings')}>
        {PARTS.filter(([part]) => part !== 'addons' || panels.length > 0).map(([part, text]) => (
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
        <ReportOnly />
        <GeneralPanel />
        {panels.length > 0 && (
          <div className="stack" data-part="addons">
            {panels.map(({ id, Component }) => (
              <PartBoundary key={id} name={id}>
                <Component />
              </PartBoundary>
            ))}
          </div>
        )}
        <div data-part="force">
          <ForceLogoutPanel />
        </div>
        <div data-part="passwords">
          <PartBoundary name={t('p_title')}>
            <PasswordsPanel />
          </PartBoundary>
        </div>
      </div>
    </div>
  )
}

/** Returns the part that the URL names, and scrolls to it each time it is opened. */
function useOpenPart(isLoaded: boolean): string {
  const query = useSyncExternalStore(place.subscribe, place.query)
  useEffect(() => {
    const show = () => {
      const part = new URLSearchParams(place.query()).get('part') ?? ''
      // The browser itself returns to where the page was scrolled.
      if (!place.isBack()) document.querySelector(`[data-part="${CSS.escape(part)}"]`)?.scrollIntoView()
    }
    // The location scrolls to the top after it has called its listeners.
    const showLater = () => requestAnimationFrame(show)
    if (!isLoaded) return undefined
    show()
    return place.subscribe(showLater)
  }, [isLoaded])
  return new URLSearchParams(query).get('part') ?? ''
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
  for (const { Component } of good) watchAddon(Component)
  return [...new Map(good.map((entry) => [entry.id, entry])).values()]
}

function isPanel(entry: unknown): entry is PanelEntry {
  const { id, Component } = (entry ?? {}) as Partial<PanelEntry>
  return typeof id === 'string' && id !== '' && isComponent(Component)
}

/** Renders the panel that signs out one user or all users. */
function ForceLogoutPanel() {
  const t = useTexts()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string>()
  const { find, dialog, isPending } = useSignOut(() => setName(''), { failed: 'force_failed', onFailure: setProblem })

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
  const part = (
    <PartBoundary name={FILTER}>
      <AddonNode>{given}</AddonNode>
    </PartBoundary>
  )
  return hasRow(given) ? part : <div className={ROW}>{part}</div>
}

function DefaultBanner() {
  const t = useTexts()
  const { data } = useQuery(ADDONS_QUERY)
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
  return isValidElement(value) || isForeign(value) || (typeof value === 'string' && value !== '')
}

/** Checks whether an add-on's content already has the row's class, so that it needs no wrapper. */
function hasRow(node: ReactNode): boolean {
  const className = isValidElement<{ className?: unknown }>(node) ? node.props.className : undefined
  return typeof className === 'string' && className.split(' ').includes(ROW)
}
