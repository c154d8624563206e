/** Renders an icon. It is hidden from screen readers because it always has a label next to it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  )
}

/** SVG paths of the icons, in a 24 by 24 view box. */
const ICON_PATHS = {
  logo: 'M12 3 5 6v5c0 4.4 2.9 8.3 7 9.6 4.1-1.3 7-5.2 7-9.6V6l-7-3Zm-2.6 8.6 1.9 1.9 3.6-3.8',
  desktop: 'M4 5h16v10H4zM9 19h6M12 15v4',
  mobile: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2',
  tablet: 'M6 3h12a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2',
  program: 'M4 5h16v14H4zM8 10l2.5 2L8 14M13 14h3',
  unknown: 'M4 5h16v10H4zM9 19h6M12 15v4M10.5 8.4a1.5 1.5 0 1 1 1.5 2v.6M12 13v.01',
  search: 'M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12ZM15.5 15.5 20 20',
  refresh: 'M19 8a7.5 7.5 0 1 0 .5 5M19.5 4v4.5H15',
  external: 'M10 6H6v12h12v-4M14 5h5v5M19 5l-8 8',
  check: 'M5 12.5 10 17l9-10',
  alert: 'M12 8v5M12 16.5v.01M12 3.5 21 19.5H3L12 3.5Z',
  info: 'M12 11v5M12 8v.01M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17Z',
  close: 'M6 6l12 12M18 6 6 18',
  chevron: 'M8 10l4 4 4-4',
  puzzle:
    'M9 5.5a2 2 0 1 1 4 0V7h4.5v4H19a2 2 0 1 1 0 4h-1.5v4.5H13V18a2 2 0 1 0-4 0v1.5H4.5V15H6a2 2 0 1 0 0-4H4.5V7H9V5.5Z',
} as const

export type IconName = keyof typeof ICON_PATHS
