import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useFailureText } from '../rest/use-failure-text.ts'
import { queries, rest, toasts } from '../screen.ts'
import { type TextKey, useTexts } from '../texts/use-texts.ts'
import { ADDONS_KEY, ADDONS_PATH, type Addon, type AddonList } from './use-addons.ts'

/** Changes an add-on's license. Without a `body`, deactivates it. */
export function useLicense(addon: Addon, done: TextKey, onDone: () => void) {
  const t = useTexts()
  const textOf = useFailureText()
  const [problem, setProblem] = useState<string>()
  const { mutate, isPending } = useMutation({
    mutationFn: (body?: { key: string }) =>
      rest.request<Addon>(body ? 'POST' : 'DELETE', `${ADDONS_PATH}/${addon.id}/license`, body),
    onMutate: () => setProblem(undefined),
    onSuccess(row) {
      queries.setQueryData<AddonList>(ADDONS_KEY, (list) => ({
        ...list,
        items: (list?.items ?? []).map((item) => (item.id === addon.id ? { ...item, ...row } : item)),
      }))
      toasts.show(t(done))
      onDone()
    },
    onError: (error) => setProblem(textOf(error, 'l_failed')),
  })
  return { change: mutate, isPending, problem, setProblem }
}
