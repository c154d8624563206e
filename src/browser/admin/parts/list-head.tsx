import type { ReactNode } from 'react'

/** Renders the heading of a tab that shows a list, and the actions on the whole list. */
export function ListHead({
  title,
  help,
  tabIndex,
  children,
}: {
  title: string
  help: string
  /** -1 if scripts focus the heading. */
  tabIndex?: number
  /** The actions. */
  children: ReactNode
}) {
  return (
    <div className="list-head">
      <div>
        <h2 tabIndex={tabIndex}>{title}</h2>
        <p className="help">{help}</p>
      </div>
      <div className="actions">{children}</div>
    </div>
  )
}
