import { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'

/** Returns the command `sessmgr uninstall`. */
export function uninstallCommand({ limiterToChange, confirm, print }: CliContext): Command {
  return new Command('uninstall')
    .description('remove all sessmgr data; users stay signed in')
    .option('--yes', 'do not ask')
    .action(async ({ yes }: { yes?: boolean }) => {
      const limiter = await limiterToChange()
      await confirm('Remove all sessmgr settings, application passwords and session records?', yes)
      await limiter.uninstall()
      print(
        'Removed. Users stay signed in. If the application still uses sessmgr, it will register their sessions again.',
      )
    })
}
