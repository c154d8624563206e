import { isValidElement, type ReactNode, type SyntheticEvent, useState, useSyncExternalStore } from 'react'
import { Button } from '../parts/button.tsx'
import { Notice, PartBoundary } from '../parts/feedback.tsx'
import { TextField } from '../parts/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { useFailureText } from '../rest/use-rest.ts'
import { hookChanges, hooks, place } from '../screen.ts'
import { SignOutEverybody, useSignOut } from '../sessions/sign-out.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { useAddons } from './use-addons.ts'

/** Renders the panel that signs out one user or all. It always asks for confirmation first. */
export function ForceLogoutPanel() {
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
    find(name)
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
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
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

/** Renders the banner at the end of the panel if there is something to buy, or what an add-on shows instead. */
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

/** Checks whether a replacement already has the row's class, so that it needs no wrapper. */
function hasRow(node: ReactNode): boolean {
  const className = isValidElement<{ className?: unknown }>(node) ? node.props.className : undefined
  return typeof className === 'string' && className.split(' ').includes(ROW)
}
