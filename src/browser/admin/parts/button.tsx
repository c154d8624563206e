import type { ButtonHTMLAttributes, MouseEvent, Ref } from 'react'
import { useOnline } from '../rest/use-rest.ts'
import { Icon, type IconName } from './icon.tsx'

/** Props of a button, besides the standard ones. */
interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Style of the button. @default 'secondary' */
  tone?: 'primary' | 'secondary' | 'danger' | 'danger-solid' | 'quiet' | undefined
  icon?: IconName | undefined
  /** Label while the action runs. The button then ignores clicks but keeps the focus. */
  busy?: string | false | undefined
  ref?: Ref<HTMLButtonElement> | undefined
}

/** Renders a button. When disabled, it keeps the focus, because keyboard users would otherwise lose their place. */
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

/** Renders a button for an action that cannot be undone. It is disabled while the browser is offline. */
export function DangerButton({ disabled = false, ...props }: ButtonProps) {
  const isOnline = useOnline()
  return <Button tone="danger" disabled={disabled || !isOnline} {...props} />
}
