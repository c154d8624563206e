/**
 * Language of the page, also used for times. If it is unknown, undefined, which means the browser's own.
 */
export const locale = known(document.documentElement.lang)

function known(lang: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(lang)[0]
  } catch {
    return undefined
  }
}
