#!/usr/bin/env node
import { runCli } from './cli/run-cli.ts'
import { writtenOut } from './cli/written-out.ts'

// Open connections of the application may keep the process alive, but the command is done.
process.exit(await writtenOut(() => runCli(process.argv.slice(2))))
