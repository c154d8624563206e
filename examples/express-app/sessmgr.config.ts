import { sessmgr } from 'sessmgr'
import { createAddons } from './addons.ts'
import { readConfig } from './config.ts'
import { logHooks } from './hooks-log.ts'
import { createHost } from './host.ts'
import { createPosts } from './posts.ts'
import { createStorage } from './storage.ts'
import { createUsers } from './users.ts'

/** Creates the limiter for the command line, with the same users and storage as the application. */
export default function createLimiter() {
  const config = readConfig({ SESSION_SECRET: 'not used on the command line', ...process.env })
  const { store, sessionStore, close } = createStorage(config)
  const addons = createAddons(config)
  const limiter = sessmgr({
    licensing: addons?.licensing,
    site: config.site,
    // Closes this command's connection when the command ends.
    store: { ...store, close },
    sessionStore,
    settings: config.settings,
    directory: config.directory,
    audit: config.audit,
    host: createHost(createUsers(config), createPosts()),
  })
  addons?.add(limiter)
  if (config.hooksLog) logHooks(limiter.hooks, config.hooksLog)
  return limiter
}
