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

/** Draws a button. One that takes no click keeps the focus all the same: it would be lost to those who use no mouse. */
export function Button({
  tone = 'secondary',
  icon,
  busy,
  disabled,
  children,
  onClick,
  type = 'button',
  ...props
}: ButtonProps) {
  const atWork = typeof busy === 'string'
  const isInert = atWork || disabled === true
  const click = (event: MouseEvent<HTMLButtonElement>) => {
    if (isInert) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      {...props}
      type={type}
      className={`button ${tone}`}
      aria-disabled={isInert || undefined}
      aria-busy={atWork || undefined}
      aria-label={atWork ? undefined : props['aria-label']}
      onClick={click}
    >
      {atWork ? <span className="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{atWork ? busy : children}</span>
    </button>
  )
}
