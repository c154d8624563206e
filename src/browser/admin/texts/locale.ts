/** Language of the page, also for times; undefined for the browser's own if the page has an unknown one. */
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
