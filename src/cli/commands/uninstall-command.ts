import { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'

/** `sessmgr uninstall`: removes what the service has stored. */
export function uninstallCommand({ limiterToChange, confirm, print }: CliContext): Command {
  return new Command('uninstall')
    .description('remove every option and key of sessmgr; the sessions of the application go on')
    .option('--yes', 'do not ask')
    .action(async ({ yes }: { yes?: boolean }) => {
      const limiter = await limiterToChange()
      await confirm('Remove every setting, application password and session record of sessmgr?', yes)
      await limiter.uninstall()
      print('Removed. The sessions of the application go on. As long as it runs with sessmgr, it registers them again.')
    })
}
