import { Fragment, useEffect, useState } from 'react'
import { agoOrDay } from '../time-words.ts'

/** How often times in words are updated. */
const CHECK_MS = 10_000

const checks = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** Renders a time in words, and keeps them up to date. `seconds` is in Unix seconds. */
export function Moment({ seconds, words = agoOrDay }: { seconds: number; words?: (ms: number) => string }) {
  const ms = seconds * 1000
  const text = words(ms)
  const [, show] = useState(text)
  useEffect(() => everySoOften(() => show(words(ms))), [ms, words])
  return <time dateTime={new Date(ms).toISOString()}>{text}</time>
}

/** Calls a check at intervals. All checks share one timer, because there can be hundreds. */
function everySoOften(check: () => void): () => void {
  checks.add(check)
  timer ??= setInterval(() => {
    for (const each of checks) each()
  }, CHECK_MS)
  return () => {
    checks.delete(check)
    if (checks.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Renders an IP address. Long addresses wrap only after a colon. */
export function IpAddress({ ip }: { ip: string }) {
  const groups = ip.split(':')
  return groups.map((group, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the groups of an address are never sorted.
    <Fragment key={index}>
      {group}
      {index < groups.length - 1 && (
        <>
          :<wbr />
        </>
      )}
    </Fragment>
  ))
}
