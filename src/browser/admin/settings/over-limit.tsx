import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useSettled } from '../parts/use-settled.ts'
import { hasDirectory, rest } from '../screen.ts'
import { locale } from '../texts/locale.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'

/** How long to wait for the next digit. */
const PAUSE_MS = 300

interface People {
  readonly people: number
  /** Whether the number is not just an estimate. */
  readonly exact: boolean
}

/** Explains what saving a lower limit does, with the number of people who hold more sessions if the server knows it. */
export function OverLimit({ maximum }: { maximum: number }) {
  const t = useTexts()
  const settled = useSettled(maximum, PAUSE_MS)
  const { data } = useQuery({
    queryKey: ['people-over', settled],
    queryFn: () =>
      rest.request<People>('GET', `sessmgr/v1/people/over?${new URLSearchParams({ maximum: `${settled}` })}`),
    placeholderData: keepPreviousData,
    enabled: hasDirectory,
    retry: false,
  })
  const isKnown = data !== undefined && data.people > 0
  const count = isKnown ? new Intl.NumberFormat(locale).format(data.people) : ''
  return (
    <strong role="status">
      {isKnown && t(countKey(data.exact ? 'maximum_over' : 'maximum_over_about', data.people), { count })}
      {data?.people === 0 && data.exact ? t('maximum_over_none') : !isKnown && t('maximum_lower')}
    </strong>
  )
}
