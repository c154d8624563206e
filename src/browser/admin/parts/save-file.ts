/** Saves a file as a browser download. */
export function saveFile(content: Blob, name: string): void {
  // Spreadsheets read a CSV file without this mark in an old encoding, which spoils names.
  const file = content.type.startsWith('text/csv') ? new Blob(['\ufeff', content], { type: content.type }) : content
  const url = URL.createObjectURL(file)
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
