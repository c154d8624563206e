import { type ElementType, type ReactNode, useEffect } from 'react'

/**
 * Keeps the page behind a dialog from scrolling. Leaves the scroll bar in place, so that nothing moves. Replaces the
 * package of the same name, which adds a style element that the page's policy forbids.
 */
export function RemoveScroll({
  as: As = 'div',
  allowPinchZoom: _zoom,
  shards: _shards,
  ...props
}: {
  as?: ElementType
  allowPinchZoom?: boolean
  shards?: unknown
  children?: ReactNode
}) {
  useEffect(() => {
    const stop = (event: Event) => {
      if (event.target instanceof Element && !event.target.closest('.dialog')) event.preventDefault()
    }
    const events = ['wheel', 'touchmove'] as const
    for (const name of events) document.addEventListener(name, stop, { passive: false })
    return () => {
      for (const name of events) document.removeEventListener(name, stop)
    }
  }, [])
  return <As {...props} />
}
