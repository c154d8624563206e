import type { ReactNode } from 'react'
import { Icon, type IconName } from '../icon.tsx'

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
