import { Switch } from 'radix-ui'
import { type ReactNode, useId } from 'react'

/** Renders a switch with its label. */
export function Toggle({
  label,
  help,
  checked,
  isChanged,
  onChange,
}: {
  label: ReactNode
  help?: ReactNode
  checked: boolean
  /** Whether another user has just changed the value. */
  isChanged?: boolean | undefined
  onChange: (checked: boolean) => void
}) {
  const id = useId()
  return (
    <div className={isChanged ? 'toggle changed' : 'toggle'}>
      <div>
        <label className="label" htmlFor={id}>
          {label}
        </label>
        {help && (
          <p className="help" id={`${id}-help`}>
            {help}
          </p>
        )}
      </div>
      <Switch.Root
        className="switch"
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        aria-describedby={help ? `${id}-help` : undefined}
      >
        <Switch.Thumb className="switch-thumb" />
      </Switch.Root>
    </div>
  )
}
