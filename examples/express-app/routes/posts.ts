import { type Request, type Response, Router } from 'express'
import type { LazyComments } from 'sessmgr'
import { isLocked, type Post, type Posts } from '../posts.ts'

/** Returns the routes that show the blog and accept comments. */
export function postRoutes(posts: Posts, comments: LazyComments): Router {
  const router = Router()

  router.get('/', (_req, res) => {
    const published = posts.all().filter(({ status }) => status === 'published')
    res.render('blog', { title: 'The example blog', posts: published })
  })

  router.get('/posts/:id', async (req, res) => {
    const post = visiblePost(req, res)
    if (!post) return
    const locked = isLocked(req, post)
    // The route of the lazy comments is public, so a post that is not public has its comments in the page itself.
    const single = post.status === 'published'
    const [commentsHtml, commentsScript] = locked
      ? ['', '']
      : await Promise.all([comments.render(req, post, { single }), comments.script(req, post, { single })])
    res.render('post', { title: post.title, post, locked, commentsHtml, commentsScript })
  })

  router.post('/posts/:id/password', (req, res) => {
    const post = visiblePost(req, res)
    if (!post) return
    if (isLocked(req, post)) {
      if (field(req, 'password') !== post.password) {
        const refusal = 'This is not the password of this post.'
        const view = { title: post.title, post, locked: true, refusal, commentsHtml: '', commentsScript: '' }
        res.status(403).render('post', view)
        return
      }
      req.session.openPosts = [...(req.session.openPosts ?? []), post.id]
    }
    res.redirect(`/posts/${post.id}`)
  })

  router.post('/posts/:id/comments', (req, res) => {
    const post = visiblePost(req, res)
    if (!post) return
    const text = field(req, 'text').trim()
    const author = req.user?.displayName ?? field(req, 'author').trim()
    if (!post.commentsOpen || isLocked(req, post)) {
      const message = 'Comments are not open on this post.'
      res.status(400).render('message', { title: 'Not posted', message })
      return
    }
    const refusal = refusalOf(req, text, author)
    if (refusal) {
      // The session may have ended in the meantime, so show the user's text again.
      const signIn = req.sessmgr?.ended !== undefined
      res.status(400).render('not-posted', { title: 'Not posted yet', post, text, author, refusal, signIn })
      return
    }
    const comment = posts.addComment(post, author.slice(0, 100), text.slice(0, 5000))
    res.redirect(`/posts/${post.id}#comment-${comment.id}`)
  })

  function visiblePost(req: Request<{ id: string }>, res: Response): Post | undefined {
    const post = /^\d{1,9}$/.test(req.params.id) ? posts.find(Number(req.params.id)) : undefined
    const mayRead = post?.status === 'published' || (post !== undefined && req.user?.role === 'administrator')
    if (post && mayRead) return post
    res.status(404).render('message', { title: 'Not found', message: 'There is no such post.' })
    return undefined
  }

  return router
}

/** Returns why a comment cannot be posted, or undefined if it can. */
function refusalOf({ sessmgr }: Request, text: string, author: string): string | undefined {
  if (text === '') return 'A comment must not be empty.'
  if (author !== '') return undefined
  return sessmgr?.ended
    ? 'You are no longer signed in here. Add your name to post this comment as a guest.'
    : 'A comment needs a name.'
}

/** Reads a string from a form. A missing or malformed value counts as empty. */
function field({ body }: Request, name: string): string {
  const value: unknown = body?.[name]
  return typeof value === 'string' ? value : ''
}
