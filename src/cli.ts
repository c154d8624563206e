#!/usr/bin/env node
import { runCli } from './cli/run-cli.ts'
import { writtenOut } from './cli/written-out.ts'

// The application's own connections may keep the process alive; the command is done.
process.exit(await writtenOut(() => runCli(process.argv.slice(2))))
