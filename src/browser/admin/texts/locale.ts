const page = known(document.documentElement.lang)

/**
 * Language of the texts, also used for times and numbers. If the page names no region, that of the reader's browser is
 * added, so that an English reader outside the US gets their own times. Undefined selects the browser's language.
 */
export const locale = navigator.languages.map(known).find((own) => page && own?.split('-', 1)[0] === page) ?? page

function known(lang: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(lang)[0]
  } catch {
    return undefined
  }
}
