import { type ReactNode, useId } from 'react'

/** Renders a card with a heading. */
export function Panel({
  title,
  help,
  aside,
  children,
}: {
  title: ReactNode
  help?: ReactNode
  /** A short remark beside the title. */
  aside?: ReactNode
  children?: ReactNode
}) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <header className="panel-head">
        <h2 id={id}>{title}</h2>
        {aside}
        {help && <p>{help}</p>}
      </header>
      <div className="panel-body">{children}</div>
    </section>
  )
}
