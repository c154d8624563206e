import Bowser from 'bowser'
import type { IconName } from '../parts/icon-paths.ts'
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

/** Name and version at the start of a program's user agent, such as "backup-script/1.0". */
const PROGRAM = /^(?!Mozilla|Opera)([\w.-]{1,40})(?:\/(\d{1,6}))?(?![\w-])/

/** Describes the device of a user agent. */
export function deviceOf(userAgent: string | null, t: Translate): Device {
  const unknown = { name: t('device_unknown'), kind: t('kind_unknown'), icon: 'desktop' } as const
  if (!userAgent) return unknown
  const { browser, os, platform } = Bowser.parse(userAgent)
  const [, program, programVersion] = PROGRAM.exec(userAgent) ?? []
  if (!os.name && program) return { name: named(program, programVersion), kind: t('kind_bot'), icon: 'program' }
  const isKnown = os.name !== undefined || Object.values(Bowser.BROWSER_MAP).includes(browser.name ?? '')
  if (!isKnown) return unknown
  const [kind, icon] = KINDS[platform.type ?? ''] ?? (['kind_unknown', 'program'] as const)
  const known = named(browser.name, browser.version?.split('.')[0])
  const system = platform.model === 'iPad' ? platform.model : os.name
  // A TV may report its system as its browser.
  const isPair = known && system && browser.name !== system
  const name = isPair ? t('device_on', { browser: known, system }) : known || system
  return { ...unknown, ...(name && { name }), kind: t(kind), icon }
}

function named(name: string | undefined, version: string | undefined): string {
  return [name, version].filter(Boolean).join(' ')
}
