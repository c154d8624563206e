import { Router } from 'express'
import { may } from '../host.ts'
import type { Users } from '../users.ts'

/** Shows administrators who a user is. The admin screen links here. */
export function userRoutes(users: Users): Router {
  const router = Router()
  router.get('/users/:id', (req, res, next) => {
    const user = users.findById(Number(req.params.id))
    if (!user || !req.user || !may(req.user, 'manage_options')) return next()
    res.render('message', { title: user.displayName, message: `${user.login} · ${user.email} · ${user.role}` })
  })
  return router
}
