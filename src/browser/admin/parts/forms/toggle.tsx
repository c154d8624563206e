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
      <input
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox says by itself whether it is checked.
        role="switch"
        className="switch"
        id={id}
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
        aria-describedby={help ? `${id}-help` : undefined}
      />
    </div>
  )
}
