import { expect, test } from 'vitest'
import { createToasts } from '../../../../../src/browser/admin/shell/toast-list.ts'

const textsOf = (toasts: ReturnType<typeof createToasts>) => toasts.all().map(({ text, count }) => `${text} ${count}`)

test('a failure stays next to other failures, and goes when something succeeds', () => {
  const toasts = createToasts(() => false)
  toasts.show('Saved.')
  toasts.show('No answer.', 'error')
  toasts.show('Refused.', 'error')
  expect(textsOf(toasts)).toEqual(['Saved. 1', 'No answer. 1', 'Refused. 1'])
  toasts.show('Signed out.')
  expect(textsOf(toasts)).toEqual(['Saved. 1', 'Signed out. 1'])
})

test('a repeated message is counted, and only the latest three are kept', () => {
  const toasts = createToasts(() => false)
  for (const text of ['a', 'b', 'b', 'c', 'd']) toasts.show(text, 'error')
  expect(textsOf(toasts)).toEqual(['b 2', 'c 1', 'd 1'])
  toasts.remove(toasts.all()[0]?.id ?? -1)
  expect(textsOf(toasts)).toEqual(['c 1', 'd 1'])
})

test('nothing is shown while the list is silent', () => {
  const toasts = createToasts(() => true)
  toasts.show('Refused.', 'error')
  expect(toasts.all()).toEqual([])
})
