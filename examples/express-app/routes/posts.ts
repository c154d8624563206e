import { type Request, type Response, Router } from 'express'
import type { Post, Posts } from '../posts.ts'

/** Shows the blog and takes comments. */
export function postRoutes(posts: Posts): Router {
  const router = Router()

  router.get('/', (_req, res) => {
    const published = posts.all().filter(({ status }) => status === 'published')
    res.render('blog', { title: 'The example blog', posts: published })
  })

  router.get('/posts/:id', (req, res) => {
    const post = visiblePost(req, res)
    if (!post) return
    const locked = isLocked(req, post)
    const comments = locked ? [] : post.comments.filter(({ approved }) => approved)
    res.render('post', { title: post.title, post, comments, locked })
  })

  router.post('/posts/:id/password', (req, res) => {
    const post = visiblePost(req, res)
    if (!post) return
    if (req.body.password === post.password) req.session.openPosts = [...(req.session.openPosts ?? []), post.id]
    res.redirect(`/posts/${post.id}`)
  })

  router.post('/posts/:id/comments', (req, res) => {
    const post = visiblePost(req, res)
    if (!post) return
    const text = String(req.body.text ?? '').trim()
    const author = req.user?.displayName ?? String(req.body.author ?? '').trim()
    if (!post.commentsOpen || isLocked(req, post) || text === '' || author === '') {
      const message = 'A comment needs a text and a name, on a post that is open for comments.'
      res.status(400).render('message', { title: 'Not posted', message })
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

function isLocked(req: Request<{ id: string }>, post: Post): boolean {
  return post.password !== undefined && !req.session.openPosts?.includes(post.id)
}
