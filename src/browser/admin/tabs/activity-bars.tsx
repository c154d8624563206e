import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { dateAndTime, periodInWords, startOfDay, timeOfDay, weekday } from '../sessions/time-words.ts'
import { locale } from '../texts/locale.ts'
import { countKey, type TextKey, useTexts } from '../texts/use-texts.ts'

/** How many events a part of a period has. `at` is in milliseconds since the Unix epoch. */
export interface CountedPart {
  readonly at: number
  readonly events: number
  readonly started: number
  readonly ended: number
  readonly refused: number
}

const TONES = [
  ['started', 'v_in', 'in'],
  ['ended', 'v_out', 'out'],
  ['refused', 'v_refused_short', 'refused'],
] as const satisfies readonly (readonly [keyof CountedPart, TextKey, string])[]

/** Renders a bar for each part of a period. Dragging over bars, or Enter on one, chooses their time. */
export function ActivityBars({
  counts: { parts, since },
  from,
  to,
  step,
  onChoose,
}: {
  counts: { readonly parts: readonly CountedPart[]; readonly since: number }
  from: number
  to: number
  step: number
  onChoose: (from: number, to: number) => void
}) {
  const t = useTexts()
  const number = new Intl.NumberFormat(locale)
  const count = Math.ceil((to - from) / step)
  const top = scaleOf(parts)
  const events = parts.reduce((sum, part) => sum + part.events, 0)
  const timesOf = (first: number, last: number) =>
    [from + first * step, Math.min(from + (last + 1) * step, to)] as const
  const { isActive, first, last, handlers } = useBars(count, (...bars) => onChoose(...timesOf(...bars)))
  const [start, end] = timesOf(first, last)
  const chosen = parts.filter(({ at }) => at >= start && at < end)
  const said = `${periodInWords(start, end)}: ${totalsOf(chosen)}`

  function totalsOf(some: readonly CountedPart[]): string {
    return TONES.map(([field, text]) => `${t(text)} ${number.format(sumOf(some, field))}`).join(', ')
  }

  return (
    <section className="summary-part">
      <h3>
        {t(countKey('v_count', events), { count: events })}
        {since > from && <span className="help">{t('v_counted_since', { start: dateAndTime(since) })}</span>}
        <span className="legend" aria-hidden="true">
          {TONES.map(([, text, tone]) => (
            <span key={tone} className={tone}>
              {t(text)}
            </span>
          ))}
        </span>
      </h3>
      <p className="strip-most" aria-hidden="true">
        {number.format(top)}
        <span className="one-line">{isActive ? said : t('v_zoom')}</span>
      </p>
      <div
        className="strip"
        role="slider"
        tabIndex={0}
        aria-label={totalsOf(parts)}
        aria-valuemin={0}
        aria-valuemax={count - 1}
        aria-valuenow={first}
        aria-valuetext={said}
        {...handlers}
      >
        <svg viewBox={`0 0 ${count * 10} 100`} preserveAspectRatio="none" aria-hidden="true">
          {isActive && <rect className="chosen" x={first * 10} y="0" width={(last - first + 1) * 10} height="100" />}
          {parts.map((part) => (
            <Bar key={part.at} part={part} x={Math.round((part.at - from) / step) * 10} top={top} />
          ))}
        </svg>
      </div>
      <ol className="strip-times" aria-hidden="true">
        {ticksIn(from, to).map((at) => (
          <li key={at} style={{ insetInlineStart: `${(100 * (at - from)) / (step * count)}%` }}>
            {startOfDay(at) === at ? weekday(at) : timeOfDay(at)}
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Returns which bars are pointed at, dragged over or reached by the arrow keys, and the handlers that choose them. */
function useBars(count: number, onChoose: (first: number, last: number) => void) {
  const strip = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<readonly [start: number, end: number]>()
  const [over, setOver] = useState<number>()
  const within = (bar: number) => Math.max(0, Math.min(count - 1, bar))
  // A bar that was reached in another period may be beyond the end of this one.
  const reached = within(over ?? 0)
  const [first = 0, last = 0] = [...(drag ?? [reached, reached])].sort((one, other) => one - other)
  const isMirrored = () => strip.current?.matches('[dir="rtl"] *')

  function onKeyDown(event: KeyboardEvent): void {
    const [back, forward] = isMirrored() ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight']
    const by = { [back]: -1, [forward]: 1, Home: -count, End: count }[event.key]
    if (by !== undefined) setOver(within(first + by))
    else if (event.key === 'Enter') onChoose(first, last)
    else return
    event.preventDefault()
  }

  function barAt({ clientX }: PointerEvent): number {
    const { left, right, width } = strip.current?.getBoundingClientRect() ?? new DOMRect()
    const part = (isMirrored() ? right - clientX : clientX - left) / width
    return within(Math.floor(part * count))
  }

  const handlers = {
    ref: strip,
    onKeyDown,
    onFocus: () => setOver(over ?? count - 1),
    onBlur: () => setOver(undefined),
    onPointerDown(event: PointerEvent) {
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag([barAt(event), barAt(event)])
    },
    onPointerMove(event: PointerEvent) {
      setOver(barAt(event))
      if (drag) setDrag([drag[0], barAt(event)])
    },
    onPointerLeave: () => setOver(undefined),
    onPointerCancel: () => setDrag(undefined),
    onPointerUp() {
      if (drag) onChoose(first, last)
      setDrag(undefined)
    },
  }
  return { isActive: over !== undefined, first, last, handlers }
}

/** The distances of the times below the bars, in hours. */
const TICKS = [0.25, 1, 3, 6, 12, 24, 2 * 24, 7 * 24, 30 * 24, 90 * 24, 365 * 24]
const HOUR_MS = 3_600_000

/** Returns round times in a period. Their number and the room after the last one depend on the width of the screen. */
function ticksIn(from: number, to: number): readonly number[] {
  const length = to - from
  const [most, room] = matchMedia('(max-width: 40rem)').matches ? [4, length / 6] : [7, length / 12]
  const hours = TICKS.find((tick) => length / HOUR_MS / tick <= most) ?? Number.POSITIVE_INFINITY
  const ticks: number[] = []
  const day = new Date(startOfDay(from))
  for (let at = day.getTime(); at < to - room; at = day.getTime()) {
    if (at >= from) ticks.push(at)
    // By the clock, because a day may be an hour longer or shorter.
    if (hours < 24) day.setMinutes(day.getMinutes() + 60 * hours)
    else day.setDate(day.getDate() + hours / 24)
  }
  return ticks
}

const sumOf = (parts: readonly CountedPart[], field: keyof CountedPart) =>
  parts.reduce((sum, part) => sum + part[field], 0)

const heightOf = ({ started, ended, refused }: CountedPart) => started + ended + refused

/** How many times higher than the third highest a bar may be. A higher one is cut, because it would flatten the others. */
const PEAK = 2

/** Returns the number at the top of the bars. */
function scaleOf(parts: readonly CountedPart[]): number {
  const [highest = 0, , third = highest] = parts.map(heightOf).sort((one, other) => other - one)
  return Math.max(1, Math.min(highest, PEAK * third))
}

/** Renders the bar of a part of a period, from below: logins, ended sessions, refused logins. A gap shows that it is cut. */
function Bar({ part, x, top }: { part: CountedPart; x: number; top: number }) {
  const total = heightOf(part)
  let y = 100
  return (
    <g>
      {TONES.map(([field, , tone]) => {
        const height = (100 * part[field]) / Math.max(top, total)
        y -= height
        return height > 0 && <rect key={tone} className={tone} x={x + 1} y={y} width="8" height={height} />
      })}
      {total > top && <path className="bar-gap" d={`M${x} 22l10 -8v6l-10 8z`} />}
    </g>
  )
}
