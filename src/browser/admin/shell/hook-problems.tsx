import { useSyncExternalStore } from 'react'
import { Notice } from '../parts/feedback/notice.tsx'
import { hookChanges } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Lists add-ons whose subscribers failed. */
export function HookProblems() {
  const t = useTexts()
  const problems = useSyncExternalStore(hookChanges.subscribe, hookChanges.problems)
  return problems.map(({ namespace, hook, reason }) => (
    <Notice tone="warning" key={`${namespace} ${hook}`}>
      {t('broken_hook', { namespace, hook, reason })}
    </Notice>
  ))
}
