import { type ReactNode, type Ref, useEffect } from 'react'
import { Icon } from '../icon.tsx'

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
  /** The message, which can be focused by a script. */
  ref?: Ref<HTMLDivElement> | undefined
}) {
  useEffect(
    () => () => {
      // The button that had the focus is gone, and keyboard users would lose their place.
      if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true })
    },
    [],
  )
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
