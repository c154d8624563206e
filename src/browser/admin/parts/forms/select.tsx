import { type TextKey, useTexts } from '../../texts/use-texts.ts'

/** Renders a list that opens to choose one of several values. */
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
