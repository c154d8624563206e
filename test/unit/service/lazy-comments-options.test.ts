import { describe, expect, it } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'

const posts = {
  find: () => undefined,
  id: ({ id }: { id: number }) => id,
  url: ({ id }: { id: number }) => `/posts/${id}`,
  isPublic: () => true,
  countComments: () => 0,
}
const theme = { renderComments: () => '' }

describe('createLazyComments()', () => {
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
