#!/usr/bin/env node
import { writtenOut } from './cli/output.ts'
import { runCli } from './cli/run-cli.ts'

// Exit explicitly, because the application's open connections would keep the process running.
process.exit(await writtenOut(() => runCli(process.argv.slice(2))))
