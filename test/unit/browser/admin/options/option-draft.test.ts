import { describe, expect, it } from 'vitest'
import { createOptionDraft } from '../../../../../src/browser/admin/options/option-draft.ts'

/** Creates a draft above stored options that a test can replace. */
function draftAbove(first: Readonly<Record<string, unknown>>) {
  let stored = first
  const draft = createOptionDraft(() => stored)
  const store = (next: typeof stored) => {
    stored = next
  }
  return { draft, store }
}

const stored = { s: { maximum: 1, logic: 'allow' }, t: 'a' }

describe('the draft of the options', () => {
  it('forgets what was saved, and keeps what was edited while it was', () => {
    const { draft, store } = draftAbove(stored)
    draft.edit('s', { maximum: 3 })
    draft.edit('t', 'b')
    const sent = draft.send()
    draft.edit('s', { logic: 'block' })
    store({ s: { maximum: 3, logic: 'allow' }, t: 'b' })
    draft.settle(sent)
    expect([draft.edits(), draft.isSending()]).toEqual([{ s: { logic: 'block' } }, false])
  })

  it('forgets what is put back to how it was, but during a save only once that has failed', () => {
    const { draft, store } = draftAbove(stored)
    const change = () => {
      draft.edit('s', { maximum: 3 })
      draft.edit('t', 'b')
    }
    const putBack = () => {
      draft.edit('s', { maximum: 1 })
      draft.edit('t', 'a')
    }
    change()
    putBack()
    expect(draft.isDirty()).toBe(false)

    change()
    draft.send()
    putBack()
    expect(draft.edits()).toEqual({ s: { maximum: 1 }, t: 'a' })
    draft.refuse({ problems: {} })
    expect([draft.isDirty(), draft.refusal()]).toEqual([false, undefined])

    change()
    const sent = draft.send()
    putBack()
    store({ s: { ...stored.s, maximum: 3 }, t: 'b' })
    draft.settle(sent)
    expect(draft.edits()).toEqual({ s: { maximum: 1 }, t: 'a' })
    change()
    expect(draft.isDirty()).toBe(false)
  })

  it('keeps everything when the save is refused, and forgets the problems of what is edited again', () => {
    const { draft } = draftAbove(stored)
    draft.edit('s', { maximum: 0 })
    draft.send()
    draft.refuse({ reason: 'Not saved.', problems: { 's.maximum': 'too small', sother: 'bad' } })
    expect(draft.edits()).toEqual({ s: { maximum: 0 } })
    draft.edit('s', { maximum: 2 })
    expect(draft.refusal()).toEqual({ reason: 'Not saved.', problems: { sother: 'bad' } })
    draft.send()
    expect(draft.refusal()).toBeUndefined()
    draft.refuse({ problems: {} })
    draft.discard()
    expect([draft.isDirty(), draft.refusal()]).toEqual([false, undefined])
  })
})
