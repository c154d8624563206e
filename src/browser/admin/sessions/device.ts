import Bowser from 'bowser'
import type { IconName } from '../parts/icon.tsx'
import type { TextKey, Translate } from '../texts/use-texts.ts'

/** A description of a device. */
export interface Device {
  /** The browser and the system, such as "Firefox 140 on Windows". */
  readonly name: string
  readonly kind: string
  readonly icon: IconName
}

const KINDS: Readonly<Record<string, readonly [TextKey, IconName]>> = {
  desktop: ['kind_desktop', 'desktop'],
  mobile: ['kind_mobile', 'mobile'],
  tablet: ['kind_tablet', 'tablet'],
  tv: ['kind_tv', 'desktop'],
  bot: ['kind_bot', 'program'],
}

const LONGEST = 60

/** Describes the device of a user agent. Shortens a user agent that it does not know. */
export function deviceOf(userAgent: string | null, t: Translate): Device {
  if (!userAgent) return { name: t('device_unknown'), kind: t('kind_unknown'), icon: 'desktop' }
  const { browser, os, platform } = Bowser.parse(userAgent)
  const version = browser.version?.split('.')[0]
  const known = [browser.name, version].filter(Boolean).join(' ')
  const [kind, icon] = KINDS[platform.type ?? ''] ?? (['kind_unknown', 'program'] as const)
  const name = known && os.name ? t('device_on', { browser: known, system: os.name }) : known || os.name
  return { name: name || userAgent.slice(0, LONGEST), kind: t(kind), icon }
}
