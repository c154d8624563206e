/**
 * Language of the page, also used for times. Undefined means the browser's own, if the page has an unknown language.
 */
export const locale = known(document.documentElement.lang)

/** Direction of the page. */
export const direction = document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'

function known(lang: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(lang)[0]
  } catch {
    return undefined
  }
}
