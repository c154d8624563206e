import { type InputHTMLAttributes, type ReactNode, useEffect, useId, useState } from 'react'
import { locale } from '../../texts/locale.ts'
import { useTexts } from '../../texts/use-texts.ts'

interface FieldProps {
  readonly label: ReactNode
  readonly help?: ReactNode
  /** What is wrong with the value. */
  readonly problem?: string | undefined
  /** Whether another user has just changed the value. */
  readonly isChanged?: boolean | undefined
}

/** Renders a label, a field, its help text and what is wrong with its value. */
function Field({
  label,
  help,
  problem,
  isChanged,
  children,
}: FieldProps & { children: (ids: { id: string; 'aria-describedby': string | undefined }) => ReactNode }) {
  const id = useId()
  const describedBy = [problem && `${id}-problem`, help && `${id}-help`].filter(Boolean).join(' ')
  return (
    <div className={isChanged ? 'field changed' : 'field'}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': describedBy || undefined })}
      {problem && (
        <p className="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
      {help && (
        <p className="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = FieldProps &
  Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> & {
    readonly value: string
    onChange(value: string): void
  }

const focus = (input: HTMLInputElement | null) => input?.focus()

/** Renders a single-line text field. With `autoFocus`, it takes the focus when it appears. */
export function TextField({ label, help, problem, isChanged, value, onChange, autoFocus, ...input }: TextFieldProps) {
  return (
    <Field label={label} help={help} problem={problem} isChanged={isChanged}>
      {(ids) => (
        <input
          type="text"
          {...input}
          {...ids}
          // The attribute would act only while the page loads.
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
export function NumberField({ label, help, problem, isChanged, value, onChange, minimum, orZero }: NumberFieldProps) {
  const t = useTexts()
  const [text, setText] = useState(String(value))
  const isGood = typeof typedValue(text, minimum, orZero) === 'number'
  const isTooLarge = Number(text) > Number.MAX_SAFE_INTEGER
  const maximum = isTooLarge ? new Intl.NumberFormat(locale).format(Number.MAX_SAFE_INTEGER) : ''
  const invalid = t(isTooLarge ? 'number_too_large' : orZero ? 'number_or_zero' : 'number_invalid', {
    minimum,
    maximum,
  })
  useEffect(() => {
    // Saving or discarding changes the value from outside.
    setText((typed) => (typedValue(typed, minimum, orZero) === value ? typed : String(value)))
  }, [value, minimum, orZero])
  const own = isGood ? problem : invalid
  return (
    <Field label={label} help={help} problem={own} isChanged={isChanged}>
      {(ids) => (
        <input
          type="number"
          inputMode="numeric"
          min={orZero ? 0 : minimum}
          step={1}
          required
          className="short"
          {...ids}
          value={text}
          aria-invalid={own ? true : undefined}
          ref={(input) => input?.setCustomValidity(isGood ? '' : invalid)}
          onChange={({ target }) => {
            setText(target.value)
            onChange(typedValue(target.value, minimum, orZero))
          }}
        />
      )}
    </Field>
  )
}

function typedValue(text: string, minimum: number, orZero = false): number | string {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) && (number >= minimum || (orZero && number === 0)) ? number : text
}
