import { ICON_PATHS, type IconName } from './icon-paths.ts'

/** Renders an icon. It is hidden from screen readers because it always has a label next to it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  )
}
