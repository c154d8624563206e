import { expect, test, vi } from 'vitest'
import { createCommentsFeature } from '../../../../src/features/comments/comments-feature.ts'
import { type CommentsParts, createComments } from '../../../../src/features/comments/create-comments.ts'
import { createHooks } from '../../../../src/hooks/hooks.ts'
import { memoryStore } from '../../../../src/index.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { deferred } from '../../../support/deferred.ts'

const logger = { warn: vi.fn(), error: vi.fn() }
const posts = {
  find: () => undefined,
  id: (post: { id: number }) => post.id,
  url: () => '/posts/1',
  isPublic: () => true,
  countComments: () => 1,
}

function partsOf(): CommentsParts {
  const hooks = createHooks({ logger, deadlineMs: 1000 })
  const host = { posts, theme: { renderComments: () => '<p>Hello</p>' }, can: () => true }
  const known = { restPath: '/api', nonceHeader: 'X-Nonce', deadlineMs: 1000, textsFor: createTextsFor({}, logger) }
  const readers = { readerOf: () => undefined, nonceOf: async () => undefined }
  return { ...known, ...readers, hooks, logger, store: memoryStore(), host: host as never }
}

test('calls in the turn in which the comments were created wait until their code is loaded', async () => {
  const parts = partsOf()
  const started = deferred<void>()
  const { member, option } = createCommentsFeature(parts, async (own) => {
    await started.promise
    return createComments(own)
  })
  const onInit = vi.fn()
  parts.hooks.addAction('lazycomments_init', 'test', onInit)

  expect([member.settings.option.name, option.option.rest]).toEqual(['lazycomments_settings', true])
  const shown = member.placeholder({ id: 1 })
  const changed = member.settings.set('minimum_count', 3)
  await vi.waitFor(() => expect(onInit).toHaveBeenCalledExactlyOnceWith(member))
  started.resolve()

  expect(await shown).toContain('/api/lazycomments/v1/comments?post_id=1')
  expect(await changed).toBe(true)
  expect(await option.option.get()).toMatchObject({ minimum_count: 3 })
  await member.cache.set(7, 'block')
  expect([member.cache.key(7), await member.cache.get(7)]).toEqual(['lazycomments_block_7', 'block'])
})

test('a host that has no theme is refused before anything is loaded', () => {
  const load = vi.fn()
  const parts = partsOf()
  const host = { ...parts.host, theme: {} as never }
  expect(() => createCommentsFeature({ ...parts, host }, load)).toThrow('"host.theme" must have renderComments()')
  expect(load).not.toHaveBeenCalled()
})
