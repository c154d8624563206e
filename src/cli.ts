#!/usr/bin/env node
import { writtenOut } from './cli/output.ts'
import { runCli } from './cli/run-cli.ts'

// The application's open connections would keep the process running, but the command is finished.
process.exit(await writtenOut(() => runCli(process.argv.slice(2))))
