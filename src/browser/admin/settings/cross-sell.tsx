import { isValidElement, type ReactNode, useSyncExternalStore } from 'react'
import { useAddons } from '../addons/use-addons.ts'
import { Button } from '../parts/button.tsx'
import { Notice } from '../parts/feedback/notice.tsx'
import { PartBoundary } from '../parts/feedback/part-boundary.tsx'
import { hookChanges, hooks, place } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

const FILTER = 'sessmgr.settings.force_logout.cross_sell'
const ROW = 'sessmgr-cross-sell'

/** Renders the banner at the end of the panel if there is something to buy, or what an add-on shows instead. */
export function CrossSell() {
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const given: unknown = hooks.applyFilters(FILTER, undefined)
  if (given === null) return null
  if (!isNode(given)) return <DefaultBanner />
  const part = <PartBoundary name={FILTER}>{given}</PartBoundary>
  return hasRow(given) ? part : <div className={ROW}>{part}</div>
}

function DefaultBanner() {
  const t = useTexts()
  const { data } = useAddons()
  const items = Array.isArray(data?.items) ? data.items : []
  if (!items.some((addon) => addon.is_premium && !addon.is_license_active)) return null
  return (
    <div className={ROW}>
      <Notice
        title={t('cross_title')}
        actions={
          <Button tone="quiet" onClick={() => place.go('addons')}>
            {t('cross_link')}
          </Button>
        }
      >
        {t('cross_text')}
      </Notice>
    </div>
  )
}

function isNode(value: unknown): value is ReactNode {
  if (Array.isArray(value)) return value.length > 0 && value.every(isNode)
  return isValidElement(value) || (typeof value === 'string' && value !== '')
}

/** Checks whether a replacement already has the row's class, so that it needs no wrapper. */
function hasRow(node: ReactNode): boolean {
  const className = isValidElement<{ className?: unknown }>(node) ? node.props.className : undefined
  return typeof className === 'string' && className.split(' ').includes(ROW)
}
