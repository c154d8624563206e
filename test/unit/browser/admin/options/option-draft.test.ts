import { describe, expect, it } from 'vitest'
import { createOptionDraft } from '../../../../../src/browser/admin/options/option-draft.ts'

const stored = { maximum: 1, logic: 'allow' }

describe('the draft of the options', () => {
  it('forgets what was saved, and keeps what was edited while it was', () => {
    const draft = createOptionDraft()
    draft.edit('s', stored, { maximum: 3 })
    draft.edit('t', 'a', 'b')
    const sent = draft.edits()
    draft.edit('s', stored, { logic: 'block' })
    draft.settle(sent, { s: { maximum: 3, logic: 'allow' }, t: 'b' })
    expect(draft.edits()).toEqual({ s: { logic: 'block' } })
  })

  it('keeps what is put back to how it was while the save is under way, and forgets it once it is put forward again', () => {
    const draft = createOptionDraft()
    draft.edit('s', stored, { maximum: 3 })
    draft.edit('t', 'a', 'b')
    const sent = draft.send()
    draft.edit('s', stored, { maximum: stored.maximum })
    draft.edit('t', 'a', 'a')
    expect(draft.edits()).toEqual({ s: { maximum: stored.maximum }, t: 'a' })
    const saved = { s: { ...stored, maximum: 3 }, t: 'b' }
    draft.settle(sent, saved)
    expect(draft.edits()).toEqual({ s: { maximum: stored.maximum }, t: 'a' })
    draft.edit('s', saved.s, { maximum: 3 })
    draft.edit('t', 'b', 'b')
    expect(draft.isDirty()).toBe(false)
  })

  it('keeps everything when the save is refused, and forgets the problems of what is edited again', () => {
    const draft = createOptionDraft()
    draft.edit('s', stored, { maximum: 0 })
    draft.refuse({ 's.maximum': 'too small', sother: 'bad' })
    expect(draft.isDirty()).toBe(true)
    draft.edit('s', stored, { maximum: 2 })
    expect(draft.problems()).toEqual({ sother: 'bad' })
    draft.discard()
    expect([draft.isDirty(), draft.problems()]).toEqual([false, {}])
  })
})
