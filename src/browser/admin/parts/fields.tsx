import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react'
import { type TextKey, useTexts } from '../texts/use-texts.ts'

interface LabelProps {
  readonly label: ReactNode
  readonly help?: ReactNode
}

interface FieldProps extends LabelProps {
  /** What is wrong with the value. */
  readonly problem?: string | undefined
}

/** Props of an input for a name or a key, which browsers must not complete or correct. */
export const EXACT = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const

/** Renders a field with its label, its help text and the problem with its value. */
function Field({
  label,
  help,
  problem,
  children,
}: FieldProps & { children: (ids: { id: string; 'aria-describedby': string | undefined }) => ReactNode }) {
  const id = useId()
  const describedBy = [problem && `${id}-problem`, help && `${id}-help`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': describedBy || undefined })}
      {problem && (
        <p className="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
      <Help id={id}>{help}</Help>
    </div>
  )
}

/** Renders the help text of the field `id`, if there is any. */
function Help({ id, children }: { id: string; children: ReactNode }) {
  return (
    children && (
      <p className="help" id={`${id}-help`}>
        {children}
      </p>
    )
  )
}

type TextFieldProps = FieldProps &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> & {
    readonly value: string
    onChange(value: string): void
  }

const focus = (input: HTMLInputElement | null) => input?.focus()

/** Renders a single-line text field. With `autoFocus`, it takes the focus when it appears. */
export function TextField({ label, help, problem, value, onChange, autoFocus, ...input }: TextFieldProps) {
  return (
    <Field label={label} help={help} problem={problem}>
      {(ids) => (
        <input
          type="text"
          {...input}
          {...ids}
          // The `autofocus` attribute would work only while the page loads.
          ref={autoFocus ? focus : undefined}
          value={value}
          aria-invalid={problem ? true : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

type NumberFieldProps = FieldProps & {
  /** The number, or the invalid input as typed. */
  readonly value: unknown
  /** Receives the number, or the invalid input. */
  onChange(value: number | string): void
  readonly minimum: number
  /** Whether 0, which means "off", is valid below the minimum. */
  readonly orZero?: boolean | undefined
}

/** Renders a field for an integer. Invalid input stays visible and prevents saving. */
export function NumberField({ label, help, problem, value, onChange, minimum, orZero }: NumberFieldProps) {
  const t = useTexts()
  const [typed, setTyped] = useState('')
  // Saving or discarding edits changes the value from outside.
  const text = typedValue(typed, minimum, orZero) === value ? typed : String(value)
  const isGood = typeof typedValue(text, minimum, orZero) === 'number'
  const isTooLarge = Number(text) > Number.MAX_SAFE_INTEGER
  const invalid = t(isTooLarge ? 'number_too_large' : orZero ? 'number_or_zero' : 'number_invalid', {
    minimum,
    maximum: Number.MAX_SAFE_INTEGER,
  })
  const own = isGood ? problem : invalid
  return (
    <Field label={label} help={help} problem={own}>
      {(ids) => (
        <input
          // The mouse wheel would change a focused field of type "number".
          type="text"
          inputMode="numeric"
          autoComplete="off"
          className="short"
          {...ids}
          value={text}
          aria-invalid={own ? true : undefined}
          ref={(input) => input?.setCustomValidity(isGood ? '' : invalid)}
          onFocus={({ target }) => target.select()}
          onChange={({ target }) => {
            setTyped(target.value)
            onChange(typedValue(target.value, minimum, orZero))
          }}
        />
      )}
    </Field>
  )
}

function typedValue(text: string, minimum: number, orZero = false): number | string {
  const number = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) && (number >= minimum || (orZero && number === 0)) ? number : text
}

/** One of several choices. */
interface ChoiceOption {
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
  onChange,
}: LabelProps & {
  value: string
  options: readonly ChoiceOption[]
  onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div className="field">
      <span className="label" id={id}>
        {label}
      </span>
      <Help id={id}>{help}</Help>
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
              <span className="label" id={`${id}-${option.value}-label`}>
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

/** Renders a switch with its label. */
export function Toggle({
  label,
  help,
  checked,
  onChange,
}: LabelProps & {
  checked: boolean
  onChange: (checked: boolean) => void
}) {
  const id = useId()
  return (
    <div className="toggle">
      <div>
        <label className="label" htmlFor={id}>
          {label}
        </label>
        <Help id={id}>{help}</Help>
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

/** Renders a drop-down list of values. */
export function Select({
  label,
  value,
  options,
  onChange,
}: {
  label: TextKey
  value: string
  options: readonly (readonly [value: string, text: TextKey])[]
  onChange: (value: string) => void
}) {
  const t = useTexts()
  return (
    <select aria-label={t(label)} value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {t(text)}
        </option>
      ))}
    </select>
  )
}
