import { TEXTS as SCREEN } from '../browser/admin/texts/texts.ts'
import { TEXT_DOMAIN } from '../ground/constants.ts'
import { ENGLISH } from './english.ts'

type ScreenKey = keyof typeof SCREEN

/** Key of a sentence that people read; those of the admin screen begin with `admin_`. */
export type TextKey = keyof typeof ENGLISH | `admin_${ScreenKey}`

/** Sentences in place of the English ones. A key that is missing, or undefined, stays English. */
export type Texts = { readonly [Key in TextKey]?: string | undefined }

/** What begins the keys of the admin screen. */
export const SCREEN_PREFIX = 'admin_'

const screenTexts = Object.fromEntries(Object.entries(SCREEN).map(([key, text]) => [SCREEN_PREFIX + key, text]))

/** Every sentence that people read, in English, for translation tools. `{name}` stands for a value. */
export const textCatalogue: {
  /** The text domain of the package. */
  readonly domain: string
  /** Each sentence by its key. */
  readonly texts: Readonly<Record<TextKey, string>>
} = { domain: TEXT_DOMAIN, texts: { ...ENGLISH, ...(screenTexts as Record<`admin_${ScreenKey}`, string>) } }
