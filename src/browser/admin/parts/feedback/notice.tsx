import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'

/** Renders a permanent message. Screen readers announce errors at once. */
export function Notice({
  tone = 'info',
  title,
  children,
  actions,
}: {
  tone?: 'info' | 'error' | 'warning'
  title?: ReactNode
  children?: ReactNode
  actions?: ReactNode
}) {
  return (
    <div className={`notice ${tone}`} role={tone === 'info' ? undefined : 'alert'}>
      <Icon name={tone === 'info' ? 'info' : 'alert'} />
      <div>
        {title && <p className="notice-title">{title}</p>}
        {children && <div className="notice-text">{children}</div>}
        {actions && <div className="actions">{actions}</div>}
      </div>
    </div>
  )
}
