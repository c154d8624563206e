import { TEXTS as SCREEN } from '../browser/admin/texts/texts.ts'
import { TEXT_DOMAIN } from '../ground/constants.ts'
import { ENGLISH } from './english.ts'

type ScreenKey = keyof typeof SCREEN

/** Key of a text. The admin screen's keys begin with `admin_`. */
export type TextKey = keyof typeof ENGLISH | `admin_${ScreenKey}`

/** Texts that replace the English ones. Where a key is missing or undefined, the text stays English. */
export type Texts = { readonly [Key in TextKey]?: string | undefined }

/** Prefix of the admin screen's keys. */
export const SCREEN_PREFIX = 'admin_'

const screenTexts = Object.fromEntries(Object.entries(SCREEN).map(([key, text]) => [SCREEN_PREFIX + key, text]))

/** All English texts, for translation tools. `{name}` is a placeholder. */
export const textCatalogue: {
  /** The package's text domain. */
  readonly domain: string
  /** Texts by key. */
  readonly texts: Readonly<Record<TextKey, string>>
} = { domain: TEXT_DOMAIN, texts: { ...ENGLISH, ...(screenTexts as Record<`admin_${ScreenKey}`, string>) } }
