import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLazyComments, type StandaloneComments } from '../../../src/comments.ts'
import { memoryStore, SessmgrError } from '../../../src/index.ts'

const posts = {
  find: () => undefined,
  id: ({ id }: { id: number }) => id,
  url: ({ id }: { id: number }) => `/posts/${id}`,
  isPublic: () => true,
  countComments: () => 0,
}
const theme = { renderComments: () => '' }

describe('createLazyComments()', () => {
  it('fires lazycomments_init once, with itself', async () => {
    const comments = createLazyComments({ host: { posts, theme } })
    const cores: StandaloneComments[] = []
    comments.hooks.addAction('lazycomments_init', 'test', (core) => void cores.push(core as StandaloneComments))
    await nextTurn()
    await nextTurn()
    expect(cores).toEqual([comments])
    expect(comments.hooks.didAction('lazycomments_init')).toBe(1)
  })

  it('rejects with errors that a route can hand on', async () => {
    const store = memoryStore()
    const down = () => Promise.reject(new SessmgrError('store_unavailable', 'The store cannot be reached.'))
    Object.assign(store.options, { get: down })
    Object.assign(store.transients, { advance: down })
    const comments = createLazyComments({ host: { posts, theme }, store })
    const retry = { code: 'store_unavailable', status: 503, headers: { 'Retry-After': '2' } }
    await expect(comments.settings.all()).rejects.toMatchObject(retry)
    await expect(comments.themeSwitched()).rejects.toMatchObject(retry)
  })

  it('refuses what a theme gives in place of a text', async () => {
    const comments = createLazyComments({ host: { posts, theme: { renderComments: () => 5 as never } } })
    await expect(comments.render({ url: '/', headers: {} } as never, { id: 2 })).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'The theme must return the comments markup as a string, but returned a number.',
    })
  })

  it('refuses what it cannot use, and says why', () => {
    for (const [options, message] of [
      [undefined, '"host" must have posts and a theme'],
      [{ host: { theme } }, '"host" must have posts and a theme'],
      [{ host: { posts, theme }, storre: 1 }, 'There is no option "storre". Did you mean "store"?'],
      [{ host: { posts, theme }, restPath: 'api/' }, '"restPath" must be a path'],
      [{ host: { posts, theme }, user: 'name' }, '"user" must be a function'],
      [{ host: { posts: { ...posts, url: undefined }, theme } }, '"host.posts.url" must be a function'],
      [{ host: { posts: { ...posts, hasPassword: true }, theme } }, '"host.posts.hasPassword" must be a function'],
      [{ host: { posts, theme: { template: () => [] } } }, '"host.theme" must have renderComments(), or'],
    ] as const) {
      expect(() => createLazyComments(options as never), message).toThrow(message)
    }
  })
})
