import { Router } from 'express'
import { may } from '../host.ts'
import type { Users } from '../users.ts'

/** Returns the route that shows a user to administrators. The admin screen links to it. */
export function userRoutes(users: Users): Router {
  const router = Router()
  router.get('/users/:id', (req, res, next) => {
    const user = users.findById(Number(req.params.id))
    if (!user || !req.user || !may(req.user, 'manage_options')) return next()
    res.render('message', { title: user.displayName, message: `${user.login} · ${user.email} · ${user.role}` })
  })
  return router
}
