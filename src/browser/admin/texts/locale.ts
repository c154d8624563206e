/**
 * Language of the page, also used for times. Undefined, meaning the browser's own, if the language of the page is
 * unknown.
 */
export const locale = known(document.documentElement.lang)

function known(lang: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(lang)[0]
  } catch {
    return undefined
  }
}
