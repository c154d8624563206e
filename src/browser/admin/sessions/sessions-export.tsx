import { ExportMenu } from '../parts/export-menu.tsx'

const FORMATS = ['csv', 'json'] as const

/** Renders the menu that saves a list of this tab as a file. */
export function SessionsExport({ route, query }: { route: string; query: Readonly<Record<string, string>> }) {
  const formats = FORMATS.map((format) => ({
    label: format.toUpperCase(),
    path: `sessmgr/v1/${route}?${new URLSearchParams({ format, ...query })}`,
    file: `sessions.${format}`,
  }))
  return <ExportMenu formats={formats} />
}
