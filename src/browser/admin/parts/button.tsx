import type { ButtonHTMLAttributes, MouseEvent, Ref } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** What a button may be told, beside what any button may. */
export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** How it looks. @default 'secondary' */
  tone?: 'primary' | 'secondary' | 'danger' | 'danger-solid' | 'quiet' | undefined
  icon?: IconName | undefined
  /** Words for while it is at work; it takes no click then, and keeps the focus. */
  busy?: string | false | undefined
  ref?: Ref<HTMLButtonElement> | undefined
}

/** Draws a button. */
export function Button({ tone = 'secondary', icon, busy, children, onClick, type = 'button', ...props }: ButtonProps) {
  const atWork = typeof busy === 'string'
  const click = (event: MouseEvent<HTMLButtonElement>) => {
    if (atWork) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      {...props}
      type={type}
      className={`button ${tone}`}
      aria-disabled={atWork || undefined}
      aria-busy={atWork || undefined}
      aria-label={atWork ? undefined : props['aria-label']}
      onClick={click}
    >
      {atWork ? <span className="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{atWork ? busy : children}</span>
    </button>
  )
}
