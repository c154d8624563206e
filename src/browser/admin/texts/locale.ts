/** Language of the page, in which times are written too; undefined, the browser's, where it is not one that there is. */
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
