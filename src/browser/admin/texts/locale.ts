/** Language of the page, also used for times. Undefined if unknown, which selects the browser's language. */
export const locale = known(document.documentElement.lang)

function known(lang: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(lang)[0]
  } catch {
    return undefined
  }
}
