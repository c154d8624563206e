import { type ReactNode, useId } from 'react'

/** One of several choices. */
export interface ChoiceOption {
  readonly value: string
  readonly label: ReactNode
  readonly help?: ReactNode
}

/** Renders a group of choices with descriptions. */
export function Choice({
  label,
  help,
  value,
  options,
  isChanged,
  onChange,
}: {
  label: ReactNode
  help?: ReactNode
  value: string
  options: readonly ChoiceOption[]
  /** Whether another user has just changed the value. */
  isChanged?: boolean | undefined
  onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div className={isChanged ? 'field changed' : 'field'}>
      <span className="label" id={id}>
        {label}
      </span>
      {help && (
        <p className="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      <div className="choice" role="radiogroup" aria-labelledby={id} aria-describedby={help ? `${id}-help` : undefined}>
        {options.map((option) => (
          // The whole card is clickable, but the name and description belong to the radio button.
          <label className="choice-card" key={option.value}>
            <input
              type="radio"
              className="radio"
              name={id}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
              aria-labelledby={`${id}-${option.value}-label`}
              aria-describedby={option.help ? `${id}-${option.value}-help` : undefined}
            />
            <span>
              <span className="choice-label" id={`${id}-${option.value}-label`}>
                {option.label}
              </span>
              {option.help && (
                <span className="help" id={`${id}-${option.value}-help`}>
                  {option.help}
                </span>
              )}
            </span>
          </label>
        ))}
      </div>
    </div>
  )
}
