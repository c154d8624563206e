import { useState } from 'react'
import { useFailureText } from '../rest/use-failure-text.ts'
import { rest, toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import { Menu } from './menu.tsx'

/** A file that can be exported. */
export interface ExportFormat {
  /** The format as people call it, such as "CSV". */
  readonly label: string
  /** Route that returns the file. */
  readonly path: string
  /** Name under which the browser saves it. */
  readonly file: string
}

/** Renders the menu that saves a list as a file. */
export function ExportMenu({ formats }: { formats: readonly ExportFormat[] }) {
  const t = useTexts()
  const textOf = useFailureText()
  const [isBusy, setBusy] = useState(false)

  async function save({ path, file }: ExportFormat): Promise<void> {
    setBusy(true)
    try {
      // A plain link could not send the nonce.
      saveFile(await rest.download(path), file)
    } catch (error) {
      toasts.show(textOf(error, 'export_failed'), 'error')
    } finally {
      setBusy(false)
    }
  }

  return (
    <Menu
      className="button secondary"
      items={formats.map((format) => ({ label: format.label, onSelect: () => void save(format) }))}
    >
      {t(isBusy ? 'exporting' : 'export')}
    </Menu>
  )
}

/** Saves a file as a download of the browser. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}
