import { Component, type ReactNode, type Ref, Suspense, useEffect, useState } from 'react'
import { type Read, useFailureText, useSignedIn } from '../rest/use-rest.ts'
import { rest } from '../screen.ts'
import { explained } from '../shell/foreign-react.ts'
import { LostFile } from '../shell/late-part.tsx'
import { reasonOf } from '../shell/screen-hooks.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** Renders a permanent message. Screen readers announce errors at once. */
export function Notice({
  tone = 'info',
  title,
  children,
  actions,
  ref,
}: {
  tone?: 'info' | 'error' | 'warning'
  title?: ReactNode
  children?: ReactNode
  actions?: ReactNode
  /** The message's element, which scripts can focus. */
  ref?: Ref<HTMLDivElement> | undefined
}) {
  return (
    <div
      className={`notice ${tone}`}
      role={tone === 'info' ? undefined : 'alert'}
      ref={ref}
      tabIndex={ref ? -1 : undefined}
    >
      <Icon name={tone === 'info' ? 'info' : 'alert'} />
      <div>
        {title && <p className="notice-title">{title}</p>}
        {children && <div className="notice-text">{children}</div>}
        {actions && <div className="actions">{actions}</div>}
      </div>
    </div>
  )
}

/**
 * Explains that something could not be loaded, with a button to retry. Shows nothing if the user has been signed out.
 */
export function Failed({
  error,
  what = 'failed_title',
  retry,
  isRetrying = false,
}: {
  error: unknown
  /** The text that names what could not be loaded. */
  what?: TextKey | undefined
  retry: () => unknown
  isRetrying?: boolean
}) {
  const t = useTexts()
  const textOf = useFailureText()
  if (useSignedIn() !== 'yes') return null
  return (
    <Notice
      tone="error"
      title={t(what)}
      actions={
        <Button icon="refresh" busy={isRetrying && t('loading')} onClick={() => retry()}>
          {t('retry')}
        </Button>
      }
    >
      {textOf(error)}
    </Notice>
  )
}

/** Renders the outline of what is loading, or explains why it could not be loaded. */
export function Pending({ of: { error, read, isReading }, what }: { of: Read<unknown>; what?: TextKey }) {
  return error ? <Failed error={error} what={what} retry={read} isRetrying={isReading} /> : <Skeleton />
}

/** Keeps the rest of the screen working while a part loads, or if it fails. Shows the name of a failed part. */
export class PartBoundary extends Component<{ name: string; children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error: explained(error) ?? new Error() }
  }

  override componentDidCatch(error: unknown) {
    console.error(`"${this.props.name}" could not be rendered.`, explained(error))
  }

  override render() {
    const { name, children } = this.props
    if (this.state.error === undefined) return <Suspense fallback={<Skeleton />}>{children}</Suspense>
    const { error } = this.state
    const retry = () => this.setState({ error: undefined })
    return error instanceof LostFile ? (
      <Lost file={error} retry={retry} />
    ) : (
      <Broken name={name} error={error} retry={retry} />
    )
  }
}

/** Explains that a file did not load. Retrying loads the file, or the page if only the file cannot be loaded. */
function Lost({ file, retry }: { file: LostFile; retry: () => void }) {
  const t = useTexts()
  const [isLoading, setLoading] = useState(false)
  async function load(): Promise<void> {
    setLoading(true)
    const isLoaded = await file.load().then(
      () => true,
      () => false,
    )
    if (isLoaded) return retry()
    // Some browsers never request such a file again, and an updated server has other files.
    if ((await rest.check().catch(() => undefined)) === 'yes') window.location.reload()
    setLoading(false)
  }
  return (
    <Notice
      tone="error"
      title={t('failed_title')}
      actions={
        <Button icon="refresh" busy={isLoading && t('loading')} onClick={() => void load()}>
          {t('retry')}
        </Button>
      }
    >
      {t('file_lost')}
    </Notice>
  )
}

function Broken({ name, error, retry }: { name: string; error: unknown; retry: () => void }) {
  const t = useTexts()
  return (
    <Notice
      tone="error"
      title={t('broken_part', { name })}
      actions={
        <Button icon="refresh" onClick={retry}>
          {t('retry')}
        </Button>
      }
    >
      {t('broken_part_help')} <code>{reasonOf(error)}</code>
    </Notice>
  )
}

/** Renders a placeholder where there is nothing to show. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName
  title: ReactNode
  children?: ReactNode
  /** A button below the text. */
  action?: ReactNode
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <p className="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

const SLOW_MS = 8_000

/** Announces loading to screen readers, and shows a message if loading is slow. */
function Waiting() {
  const t = useTexts()
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [])
  return isSlow ? <p className="help">{t('loading_slow')}</p> : <span className="unseen">{t('loading')}</span>
}

/** Renders the outline of what is loading. The server renders the same outline before the script runs. */
export function Skeleton() {
  return (
    <div className="stack" role="status">
      <Waiting />
      <div className="panel skeleton" aria-hidden="true">
        <span className="bone wide" />
        <span className="bone" />
        <span className="bone field-bone" />
      </div>
    </div>
  )
}
