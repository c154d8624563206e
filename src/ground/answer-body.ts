/** Makes the body of every answer in JSON that tells of an error. */
export function errorBody(code: string, message: string, status: number) {
  return { code, message, data: { status } }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Makes a text safe between tags and inside quoted attributes. */
export function htmlText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
